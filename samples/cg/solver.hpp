// Solver: conjugate gradients on a device, either as one graph with a loop or as the same
// iterations launched from the host. Ranks share the rows of the grid. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

namespace cg {

struct SolverDesc {
  std::uint32_t size = 0;   // points per side
  double tolerance = 1e-8;  // of the residual norm, relative to the right-hand side
  std::uint64_t max_iterations = 0;
  reprise::Communicator world = {};  // all of its ranks solve together; empty: this process alone
};

struct Solve {
  std::vector<double> x;  // on ranks other than the first: their own rows
  std::uint64_t iterations = 0;
  bool reached_limit = false;
  double milliseconds =
      0;  // from the launch to its end; copies of the right side and the result included
};

class Solver {
 public:
  // Throws std::runtime_error if there are more ranks than rows.
  Solver(const reprise::Device& device, const SolverDesc& desc);

  // Collective, with the same `b` and `iterations` on all ranks.

  // One launch: the graph iterates until convergence.
  [[nodiscard]] Solve solve_in_graph(const std::vector<double>& b);
  // As before, with the same right side, `times` launches in a row; waits for the last.
  void repeat_in_graph(std::uint32_t times);
  // One launch per iteration; the host reads the residual after each.
  [[nodiscard]] Solve solve_from_host(const std::vector<double>& b);
  // `iterations` launches in a row without reading the residual: the cost of launching alone.
  [[nodiscard]] Solve solve_blindly(const std::vector<double>& b, std::uint64_t iterations);
  // The same `times` times in a row, with the same right side; waits for the last.
  void repeat_blindly(std::uint32_t times, std::uint64_t iterations);

  [[nodiscard]] const reprise::CapturedGraph& graph() const noexcept { return whole_; }

 private:
  void record_start(reprise::CommandBuffer& to) const;
  // An iteration without the kernel for the next direction.
  void record_step(reprise::CommandBuffer& to) const;
  reprise::Fence launch_blindly(std::uint64_t iterations);
  void record_end(reprise::CommandBuffer& to) const;
  void record_halo_exchange(reprise::CommandBuffer& to) const;
  void record_gather(reprise::CommandBuffer& to, const reprise::GpuRef<double>& parts) const;
  [[nodiscard]] reprise::CapturedGraph compile(
      reprise::CommandBuffer& commands, reprise::Lowering lowering = reprise::Lowering::Auto) const;
  [[nodiscard]] Solve result() const;
  [[nodiscard]] reprise::DispatchDesc all_points() const;
  // Partial sums: `blocks_` of each rank.
  [[nodiscard]] std::uint32_t part_count() const noexcept { return ranks_ * blocks_; }
  [[nodiscard]] reprise::GpuRef<double> allocate_parts(const char* name) const;
  [[nodiscard]] reprise::GpuRef<double> own(const reprise::GpuRef<double>& parts) const;
  // Rank `ranks_` would begin behind the last point.
  [[nodiscard]] std::uint32_t first_point(std::uint32_t rank) const;

  const reprise::Device device_;
  const SolverDesc desc_;
  const std::uint32_t ranks_, rank_;
  const std::uint32_t first_, points_;  // of this rank
  const std::uint32_t above_;           // points of the row that p_with_halo_ has before p_
  const std::uint32_t blocks_;          // the same on all ranks
  reprise::Queue queue_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::HostRef<double> input_, output_, state_now_;
  // x_ and p_ are this rank's slices of solution_ (on the first rank: all rows) and p_with_halo_
  // (also the adjacent row of each neighbour).
  reprise::GpuRef<double> b_, solution_, x_, r_, p_with_halo_, p_, q_;
  // Partial sums of p * q, and of the squared residual after this iteration and before it.
  reprise::GpuRef<double> parts_, residual_parts_, parts_before_;
  reprise::GpuRef<double> state_;
  reprise::Condition goes_on_;
  struct {
    reprise::Kernel start, begin, apply, step, direction, direction_in_loop, decide;
  } kernels_;
  reprise::CapturedGraph whole_, start_, iteration_, end_;
};

}  // namespace cg

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

  [[nodiscard]] const reprise::CapturedGraph& graph() const noexcept { return whole_; }

 private:
  void record_start(reprise::CommandBuffer& to) const;
  void record_iteration(reprise::CommandBuffer& to) const;
  void record_end(reprise::CommandBuffer& to) const;
  void record_halo_exchange(reprise::CommandBuffer& to) const;
  void record_gather_parts(reprise::CommandBuffer& to) const;
  [[nodiscard]] reprise::CapturedGraph compile(reprise::CommandBuffer& commands) const;
  [[nodiscard]] Solve result() const;
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
  // x_, p_ and parts_ are this rank's slices of solution_ (on the first rank: all rows),
  // p_with_halo_ (also the adjacent row of each neighbour) and all_parts_ (of all ranks).
  reprise::GpuRef<double> b_, solution_, x_, r_, p_with_halo_, p_, q_, all_parts_, parts_, state_;
  reprise::Condition goes_on_;
  struct {
    reprise::Kernel start, begin, apply, length, step, residual, direction, decide;
  } kernels_;
  reprise::CapturedGraph whole_, start_, iteration_, end_;
};

}  // namespace cg

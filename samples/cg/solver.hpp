// Solver: conjugate gradients on a device, either as one graph with a loop or as the same
// iterations launched from the host. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

namespace cg {

struct SolverDesc {
  std::uint32_t size = 0;   // points per side
  double tolerance = 1e-8;  // of the residual norm, relative to the right-hand side
  std::uint64_t max_iterations = 0;
};

struct Solve {
  std::vector<double> x;
  std::uint64_t iterations = 0;
  bool reached_limit = false;
  double milliseconds =
      0;  // from the launch to its end; copies of the right side and the result included
};

class Solver {
 public:
  Solver(const reprise::Device& device, const SolverDesc& desc);

  // One launch: the graph iterates until convergence.
  [[nodiscard]] Solve solve_in_graph(const std::vector<double>& b);
  // One launch per iteration; the host reads the residual after each.
  [[nodiscard]] Solve solve_from_host(const std::vector<double>& b);
  // `iterations` launches in a row without reading the residual: the cost of launching alone.
  [[nodiscard]] Solve solve_blindly(const std::vector<double>& b, std::uint64_t iterations);

  [[nodiscard]] const reprise::CapturedGraph& graph() const noexcept { return whole_; }

 private:
  void record_start(reprise::CommandBuffer& to) const;
  void record_iteration(reprise::CommandBuffer& to) const;
  [[nodiscard]] reprise::CapturedGraph compile(reprise::CommandBuffer& commands) const;
  [[nodiscard]] Solve result() const;

  const reprise::Device device_;
  const SolverDesc desc_;
  const std::uint32_t points_, blocks_;
  reprise::Queue queue_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::HostRef<double> input_, output_, state_now_;
  reprise::GpuRef<double> b_, x_, r_, p_, q_, parts_, state_;
  reprise::Condition goes_on_;
  struct {
    reprise::Kernel start, begin, apply, length, step, residual, direction, decide;
  } kernels_;
  reprise::CapturedGraph whole_, start_, iteration_, end_;
};

}  // namespace cg

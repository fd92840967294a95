// cg: solves a Poisson problem by conjugate gradients. The whole solve is one graph with a loop
// that ends at convergence, also on several ranks.
#include <cstdio>

#include "poisson.hpp"
#include "solver.hpp"
#include "support/program.hpp"
#include "support/ranks.hpp"
#include "support/timing.hpp"

namespace {

using namespace cg;

constexpr std::uint32_t kHostSize = 48, kGpuSize = 256;

bool is_right(const samples::Program& program, const char* how, const SolverDesc& desc,
              const Solve& solve, const std::vector<double>& b) {
  const double residual = relative_residual(desc.size, solve.x, b);
  std::printf(
      "%-32s %6llu iterations, %10.3f ms, %7.2f us each, residual %.2e\n", how,
      static_cast<unsigned long long>(solve.iterations), solve.milliseconds,
      solve.iterations == 0 ? 0 : 1000 * solve.milliseconds / static_cast<double>(solve.iterations),
      residual);
  if (solve.reached_limit) {
    program.complain("no solution within " + std::to_string(desc.max_iterations) +
                     " iterations; give more with --limit");
    return false;
  }
  if (residual <= 2 * desc.tolerance)
    return true;  // the device updates its residual incrementally: the two differ slightly
  program.complain("the residual is not below the tolerance of " + std::to_string(desc.tolerance));
  return false;
}

bool solve(const samples::Program& program, const samples::Timing& timing,
           const reprise::LaunchedRank& rank, SolverDesc desc) {
  const reprise::Instance instance(
      {.application = "cg", .cuda_graphs = reprise::CudaGraphs::Exclusive});
  const reprise::Device device = program.open_device(instance, rank.local_rank);
  desc.world = reprise::Communicator::from_environment(device);
  if (desc.size == 0)
    desc.size = device.info().kind == reprise::DeviceKind::Host ? kHostSize : kGpuSize;
  Solver solver(device, desc);
  std::printf("%u x %u points: %s\n", desc.size, desc.size,
              samples::describe(solver.graph().report()).c_str());
  if (rank.rank == 0) solver.graph().export_dot(program.output("cg.dot"));

  const std::vector<double> b = right_side(desc.size);
  static_cast<void>(solver.solve_in_graph(b));  // warm-up
  static_cast<void>(solver.solve_blindly(b, 2));
  const Solve in_graph = solver.solve_in_graph(b);
  const Solve from_host = solver.solve_from_host(b);
  const Solve blindly = solver.solve_blindly(b, in_graph.iterations);
  timing.measure("iteration", "one graph with a loop", in_graph.iterations,
                 [&](std::uint32_t launches) { solver.repeat_in_graph(launches); });
  timing.measure("iteration", "from the host, without checks", in_graph.iterations,
                 [&](std::uint32_t solves) { solver.repeat_blindly(solves, in_graph.iterations); });
  if (rank.rank != 0) return true;  // the first has all rows
  if (!is_right(program, "one graph with a loop:", desc, in_graph, b) ||
      !is_right(program, "from the host, checking each iteration:", desc, from_host, b) ||
      !is_right(program, "from the host, without looking:", desc, blindly, b))
    return false;
  if (from_host.iterations != in_graph.iterations || from_host.x != in_graph.x ||
      blindly.x != in_graph.x) {
    program.complain("the same iterations gave different solutions");
    return false;
  }
  std::printf("the graph takes %.2f of the host's time with checks, %.2f of that without\n",
              in_graph.milliseconds / from_host.milliseconds,
              in_graph.milliseconds / blindly.milliseconds);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  samples::Program program("cg",
                           "Solves a Poisson problem on a square by conjugate gradients, as one "
                           "graph with a loop, and checks the residual.");
  cg::SolverDesc desc{.max_iterations = 100'000};
  program.options
      .add_option("--size", desc.size,
                  "grid points per side (default: 256 on a GPU, 48 on the host device)")
      ->check(CLI::Range(1u, 8192u));
  program.options
      .add_option("--tolerance", desc.tolerance,
                  "of the residual norm, relative to the right-hand side")
      ->check(CLI::Range(1e-13, 0.5))
      ->capture_default_str();
  program.options.add_option("--limit", desc.max_iterations, "maximum number of iterations")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  samples::Ranks ranks(program);
  samples::Timing timing(program);
  return program.run(argc, argv, [&] {
    ranks.start(argc, argv);
    return solve(program, timing, ranks.launched(), desc);
  });
}

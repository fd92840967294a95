// cholesky: factors a symmetric positive definite matrix in tiles. On a GPU, one persistent kernel
// runs all tiles.
#include <cstdio>
#include <limits>

#include "factorization.hpp"
#include "matrix.hpp"
#include "support/program.hpp"

namespace {

using namespace cholesky;

struct Choice {
  std::uint32_t size = 0, tile = 0, replays = 20, seed = 1;
  bool is_double = false;
};

constexpr std::uint32_t kHostSize = 256, kGpuSize = 1024;

template <class T>
bool factor(const samples::Program& program, const Choice& choice) {
  const reprise::Instance instance(
      {.application = "cholesky", .cuda_graphs = reprise::CudaGraphs::Exclusive});
  const reprise::Device device = program.open_device(instance);
  FactorizationDesc desc{.size = choice.size, .tile = choice.tile};
  if (desc.size == 0)
    desc.size = device.info().kind == reprise::DeviceKind::Host ? kHostSize : kGpuSize;
  const std::vector<double> a = random_matrix(desc.size, choice.seed);
  const double n = desc.size, operations = n * n * n / 3;
  double milliseconds[2] = {};
  for (const bool has_segments : {true, false}) {
    desc.lowering =
        has_segments ? reprise::Lowering::Auto : reprise::Lowering::Auto.without_segments();
    Factorization<T> factorization(device, desc);
    const double error = residual(desc.size, a, factorization.factor(a));
    if (has_segments) {
      std::printf("%u x %u %s, tiles of %u: %s\n", desc.size, desc.size,
                  choice.is_double ? "doubles" : "floats", factorization.tile(),
                  samples::describe(factorization.graph().report()).c_str());
      factorization.graph().export_dot(program.output("cholesky.dot"));
    }
    if (!(error < std::numeric_limits<T>::epsilon())) {
      char text[80];
      std::snprintf(text, sizeof text, "the residual of %.2e is too large", error);
      program.complain(text);
      return false;
    }
    double& took = milliseconds[has_segments ? 0 : 1];
    took = factorization.milliseconds(choice.replays);
    const std::uint32_t segments = factorization.graph().report().segments.segments;
    std::printf("%-24s %10.3f ms, %8.1f GFLOP/s, residual %.2e\n",
                segments != 0 ? "one persistent kernel:" : "a node for each tile:", took,
                operations / took / 1e6, error);
    if (has_segments && segments == 0) return true;  // the other lowering is the same
  }
  std::printf("the persistent kernel takes %.2f of the time of the nodes\n",
              milliseconds[0] / milliseconds[1]);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  samples::Program program("cholesky",
                           "Factors a symmetric positive definite matrix by a graph of small "
                           "kernels, one for each tile and step, and checks the residual.");
  Choice choice;
  program.options
      .add_option("--size", choice.size,
                  "rows of the matrix, a multiple of the tile (default: 1024 on a GPU, 256 on the "
                  "host device)")
      ->check(CLI::Range(32u, 16384u));
  program.options
      .add_option("--tile", choice.tile,
                  "rows of a tile: 32 or 64 (default: what is fastest on a GPU)")
      ->check(CLI::IsMember({32u, 64u}));
  program.options.add_flag("--double", choice.is_double, "doubles instead of floats");
  program.options.add_option("--replays", choice.replays, "timed factorisations")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  program.options.add_option("--seed", choice.seed, "of the matrix")->capture_default_str();
  return program.run(argc, argv, [&] {
    return choice.is_double ? factor<double>(program, choice) : factor<float>(program, choice);
  });
}

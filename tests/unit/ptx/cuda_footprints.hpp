// Random kernels in CUDA C++, compiled together, and the footprints of their launches. Threads: one
// at a time.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/block_footprint.hpp"
#include "unit/ptx/nvrtc.hpp"
#include "unit/ptx/random_cuda_kernels.hpp"

namespace reprise::test {

constexpr std::array<std::uint32_t, kCudaPointers> kCudaPointerOffsets = {0, 8, 16};

// $REPRISE_CUDA_KERNELS=FIRST:COUNT chooses other seeds, for soak tests.
struct CudaKernelSeeds {
  unsigned long first = 0, count = 0;
  bool is_chosen = false;

  explicit CudaKernelSeeds(unsigned long default_count) : count(default_count) {
    const char* const asked = std::getenv("REPRISE_CUDA_KERNELS");
    is_chosen = asked != nullptr;
    if (is_chosen) REQUIRE(std::sscanf(asked, "%lu:%lu", &first, &count) == 2);
  }
};

// Complete source of kernels.
inline std::string cuda_source(std::string_view kernels) {
  return std::string(kChecksSource) + std::string(kCudaPrelude) + std::string(kernels);
}
// Each thread stores to element i of p1 if i < n.
constexpr std::string_view kPlainCudaKernel = R"(
extern "C" __global__ void plain(float* p0, float* p1, float* p2, int n, int m, unsigned u,
                                 size_t w, int k CHECKS) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) A(1, p1[i]) = 2.0f;
}
)";

// Kernels that are compiled together.
struct RandomCudaModule {
  std::vector<RandomCudaKernel> kernels = {};
  std::string source = {};
  std::vector<std::string> options = {};  // for PTX
};
// Modules of 25 kernels. Their options depend on the number of the module alone.
inline std::vector<RandomCudaModule> random_cuda_modules(const CudaKernelSeeds& seeds) {
  constexpr unsigned long kKernels = 25;
  constexpr std::array<const char*, 3> kArchitectures = {"90", "100", "80"};
  std::vector<RandomCudaModule> modules;
  for (unsigned long seed = seeds.first; seed < seeds.first + seeds.count;) {
    RandomCudaModule& made = modules.emplace_back();
    const unsigned long number = seed / kKernels;
    for (; seed / kKernels == number && seed < seeds.first + seeds.count; ++seed)
      made.source += made.kernels.emplace_back(seed).source();
    made.source = cuda_source(made.source);
    made.options = {"--std=c++20", "--disable-warnings",
                    std::string("--gpu-architecture=compute_") + kArchitectures[number % 3]};
    if (number % 4 == 1) made.options.push_back("--generate-line-info");
    if (number % 5 == 1) made.options.push_back("--extra-device-vectorization");
  }
  return modules;
}

inline std::array<std::byte, sizeof(CudaArguments)> bytes_of(const CudaArguments& arguments) {
  std::array<std::byte, sizeof(CudaArguments)> bytes;
  std::memcpy(bytes.data(), &arguments, sizeof(arguments));
  return bytes;
}
// If k is unknown, the footprint has to contain the accesses whatever k is.
inline detail::Footprint footprint_of(const detail::FootprintProgram& program,
                                      const CudaLaunch& launch) {
  static_assert(offsetof(CudaArguments, k) == 48);
  CudaArguments arguments = launch.arguments;
  std::vector<detail::FootprintLaunch::Range> unknown;
  if (launch.is_k_unknown) {
    unknown.push_back({offsetof(CudaArguments, k), 4});
    arguments.k = 1 - arguments.k;
  }
  const auto parameters = bytes_of(arguments);
  return derive_footprint(program, {.grid = launch.grid,
                                    .block = launch.block,
                                    .parameters = parameters,
                                    .pointers = kCudaPointerOffsets,
                                    .unknown = unknown});
}

// How many footprints are bounded, and why others are not.
struct FootprintShares {
  std::size_t launches = 0, blocks = 0;  // of launches with a bounded pointer
  std::size_t bounded = 0;               // pointers that are accessed, by launch
  std::size_t by_block = 0;              // of these, those whose bytes depend on the block
  std::map<std::string, std::size_t> reasons = {};
  std::map<std::string, std::string> examples = {};  // by reason

  void add(const RandomCudaKernel& kernel, const CudaLaunch& launch,
           const detail::Footprint& footprint) {
    ++launches;
    const auto count = [&](const std::string& reason, std::size_t pointers) {
      reasons[reason] += pointers;
      examples[reason] = kernel.name();
    };
    if (!footprint.problem.empty()) return count(footprint.problem, kCudaPointers);
    bool has_bounds = false;
    for (std::size_t i = 0; i < kCudaPointers; ++i) {
      const detail::PointerFootprint& pointer = footprint.pointers[i];
      if (pointer.is_unbounded)
        count(kernel.is_gathered(i) ? "an index from memory" : "no bounds of an index", 1);
      bounded += pointer.bytes.empty() ? 0 : 1;
      by_block += std::any_of(pointer.bytes.begin(), pointer.bytes.end(),
                              [](const detail::BlockBytes& bytes) {
                                return bytes.step != std::array<std::int64_t, 3>{};
                              });
      has_bounds = has_bounds || !pointer.bytes.empty();
    }
    if (has_bounds) blocks += std::size_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  }
  [[nodiscard]] std::size_t pointers() const {
    std::size_t all = bounded;
    for (const auto& [reason, count] : reasons) all += count;
    return all;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << launches << " launches, " << blocks << " blocks with bounds; " << bounded << " of "
        << pointers() << " accessed pointers are bounded, " << by_block << " by the block";
    for (const auto& [reason, count] : reasons)
      out << "\n  " << count << ": " << reason << ", such as " << examples.at(reason);
    return out.str();
  }
};

}  // namespace reprise::test

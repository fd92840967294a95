// Compiles random kernels in CUDA C++ with NVRTC, runs their PTX with the interpreter, and looks
// each access up in the footprint. REPRISE_CUDA_KERNELS=FIRST:COUNT runs other seeds, and prints
// which share of the footprints is bounded. tests/cuda runs the same kernels on a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "unit/ptx/cuda_footprints.hpp"
#include "unit/ptx/ptx_interpreter.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

constexpr std::array<std::uint64_t, kCudaPointers> kCudaAddresses = {
    0x7f00'0000'0000, 0x7f10'0000'0100, 0x7f20'0000'0200};
constexpr int kLaunchesOfKernel = 3;

// An access outside of the footprint.
struct StrayAccess {
  bool is_far = false;  // beyond the margin: the generator or the interpreter is wrong
  PtxAccess access = {};
  PtxInterpreter::Extent block = {}, thread = {};
};

// Runs threads of a launch: all of a small one, else those of blocks and threads at the ends and of
// random ones. Returns the first access that the footprint lacks.
std::optional<StrayAccess> find_stray_access(const PtxFunction& entry, const CudaLaunch& launch,
                                             const Footprint& footprint, std::size_t& accesses) {
  const auto parameters = bytes_of(launch.arguments);
  PtxInterpreter interpreter(entry, launch.grid, launch.block, parameters, kCudaPointerOffsets);
  std::mt19937_64 random(launch.arguments.n);
  const auto volume = [](const PtxInterpreter::Extent& of) { return of[0] * of[1] * of[2]; };
  const auto at = [](const PtxInterpreter::Extent& of, std::uint32_t index) {
    return PtxInterpreter::Extent{index % of[0], index / of[0] % of[1], index / of[0] / of[1]};
  };
  const std::uint32_t blocks = volume(launch.grid), threads = volume(launch.block);
  constexpr std::uint32_t kMaxThreads = 96;
  const bool runs_all = blocks * threads <= kMaxThreads;
  std::vector<PtxAccess> made;
  for (std::uint32_t i = 0; i < (runs_all ? blocks * threads : kMaxThreads); ++i) {
    const auto chosen = [&](std::uint32_t end) {
      const std::uint64_t what = random() % 8;
      return what == 0 ? 0 : what == 1 ? end - 1 : static_cast<std::uint32_t>(random() % end);
    };
    const StrayAccess found{.block = at(launch.grid, runs_all ? i / threads : chosen(blocks)),
                            .thread = at(launch.block, runs_all ? i % threads : chosen(threads))};
    made.clear();
    interpreter.run(found.block, found.thread, made, 8'000);
    accesses += made.size();
    for (const PtxAccess& access : made) {
      const bool is_near = access.pointer >= 0 && access.offset >= -kMarginBytes &&
                           access.offset + access.bytes <= kMarginBytes;
      if (is_near && (!footprint.problem.empty() ||
                      contains(footprint, launch.grid, found.block, found.thread, access)))
        continue;
      return StrayAccess{!is_near, access, found.block, found.thread};
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("cuda footprint: contains every access of random kernels that NVRTC compiles") {
  const Nvrtc nvrtc;
  if (!nvrtc.exists()) return;
  const CudaKernelSeeds seeds(100);
  FootprintShares shares;
  std::size_t accesses = 0;
  for (RandomCudaModule& made : random_cuda_modules(seeds)) {
    const PtxModule module(nvrtc.ptx(made.source, made.options));
    REQUIRE(module.problem() == "");
    for (RandomCudaKernel& kernel : made.kernels) {
      CAPTURE(kernel.source());
      const PtxFunction* entry = module.find_entry(kernel.name());
      REQUIRE(entry != nullptr);
      const FootprintProgram program(module, *entry);
      for (int i = 0; i < kLaunchesOfKernel; ++i) {
        const CudaLaunch launch = kernel.launch(kCudaAddresses);
        const Footprint footprint = footprint_of(program, launch);
        shares.add(kernel, launch, footprint);
        const auto stray = find_stray_access(*entry, launch, footprint, accesses);
        if (!stray) continue;
        CAPTURE(made.options[2]);
        CAPTURE(i);
        CAPTURE(stray->is_far);
        CAPTURE(stray->access.pointer);
        CAPTURE(stray->access.bytes);
        CAPTURE(stray->block[0]);
        CAPTURE(stray->block[1]);
        CAPTURE(stray->thread[0]);
        CAPTURE(stray->thread[1]);
        FAIL_CHECK(kernel.name(), ": outside of the footprint: ", stray->access.offset);
        break;
      }
    }
  }
  if (seeds.is_chosen) MESSAGE(shares.text(), "\n", accesses, " accesses");
  CHECK(2 * shares.bounded >= shares.pointers());
  CHECK(accesses > 100 * seeds.count);
}

TEST_CASE("cuda footprint: one that lacks a byte is found") {
  const Nvrtc nvrtc;
  if (!nvrtc.exists()) return;
  const PtxModule module(
      nvrtc.ptx(cuda_source(kPlainCudaKernel), {"--gpu-architecture=compute_90"}));
  const PtxFunction* entry = module.find_entry("plain");
  REQUIRE(entry != nullptr);
  const CudaLaunch launch{
      .grid = {3, 1, 1}, .block = {32, 1, 1}, .arguments = {.addresses = kCudaAddresses, .n = 90}};
  const Footprint footprint = footprint_of(FootprintProgram(module, *entry), launch);
  REQUIRE(footprint.pointers[1].bytes.size() == 1);
  std::size_t accesses = 0;
  CHECK_FALSE(find_stray_access(*entry, launch, footprint, accesses).has_value());
  CHECK(accesses == 90);
  const auto stray_offset = [&](std::int64_t BlockBytes::*bound, std::int64_t change) {
    Footprint changed = footprint;
    changed.pointers[1].bytes[0].*bound += change;
    const auto stray = find_stray_access(*entry, launch, changed, accesses);
    return stray ? stray->access.offset : -1;
  };
  CHECK(stray_offset(&BlockBytes::begin, 1) == 0);
  CHECK(stray_offset(&BlockBytes::end, -1) == 31 * 4);
  CHECK(stray_offset(&BlockBytes::lowest, 1) == 0);
  CHECK(stray_offset(&BlockBytes::highest, -1) == 89 * 4);
}

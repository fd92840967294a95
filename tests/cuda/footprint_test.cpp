// Launches random kernels in CUDA C++, compiled with a comparison of each access with the
// footprint. REPRISE_CUDA_KERNELS=FIRST:COUNT runs other seeds, and prints which share of the
// footprints is bounded. tests/unit/ptx runs the same kernels with an interpreter of PTX.
#include "unit/ptx/cuda_footprints.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

constexpr int kLaunchesOfKernel = 12;

// Memory of the device, filled with zeros.
struct DeviceBytes {
  void* data = nullptr;
  explicit DeviceBytes(std::size_t bytes) {
    REQUIRE(cudaMalloc(&data, bytes) == cudaSuccess);
    REQUIRE(cudaMemset(data, 0, bytes) == cudaSuccess);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { CHECK(cudaFree(data) == cudaSuccess); }
};

// A compiled source.
struct CheckedModule {
  cudaLibrary_t library = nullptr;
  explicit CheckedModule(const std::string& cubin) {
    REQUIRE(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            cudaSuccess);
  }
  CheckedModule(const CheckedModule&) = delete;
  CheckedModule& operator=(const CheckedModule&) = delete;
  ~CheckedModule() { CHECK(cudaLibraryUnload(library) == cudaSuccess); }

  [[nodiscard]] cudaKernel_t kernel(const std::string& name) const {
    cudaKernel_t found = nullptr;
    REQUIRE(cudaLibraryGetKernel(&found, library, name.c_str()) == cudaSuccess);
    return found;
  }
};

Checks checks_of(const detail::Footprint& footprint) {
  Checks checks = {};
  checks.margin = kMarginBytes;
  for (std::size_t i = 0; i < kCudaPointers; ++i) {
    checks.counts[i] = -1;
    if (!footprint.problem.empty() || footprint.pointers[i].is_unbounded) continue;
    const std::vector<detail::BlockBytes>& bytes = footprint.pointers[i].bytes;
    REQUIRE(bytes.size() <= std::size(checks.ranges[i]));
    checks.counts[i] = static_cast<int>(bytes.size());
    for (std::size_t r = 0; r < bytes.size(); ++r)
      checks.ranges[i][r] = {{bytes[r].step[0], bytes[r].step[1], bytes[r].step[2]},
                             bytes[r].begin,
                             bytes[r].end,
                             bytes[r].lowest,
                             bytes[r].highest};
  }
  return checks;
}

// A launch and its checks, of which the device has a copy while the kernel runs.
struct CheckedLaunch {
  std::string kernel = {};
  CudaLaunch launch = {};
  Checks checks = {};
};

// Runs the launches one after another and replaces their checks by the results.
void run_checked(const CheckedModule& module, std::vector<CheckedLaunch>& launches) {
  const DeviceBytes checks(launches.size() * sizeof(Checks));
  std::vector<Checks> copies;
  for (const CheckedLaunch& one : launches) copies.push_back(one.checks);
  REQUIRE(cudaMemcpy(checks.data, copies.data(), copies.size() * sizeof(Checks),
                     cudaMemcpyHostToDevice) == cudaSuccess);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    CheckedLaunch& one = launches[i];
    CudaArguments& of = one.launch.arguments;
    Checks* results = static_cast<Checks*>(checks.data) + i;
    void* arguments[] = {
        &of.addresses[0], &of.addresses[1], &of.addresses[2], &of.n, &of.m, &of.u, &of.w, &of.k,
        &results};
    const std::array<std::uint32_t, 3>&grid = one.launch.grid, &block = one.launch.block;
    const cudaError_t result = cudaLaunchKernel(
        reinterpret_cast<const void*>(module.kernel(one.kernel)), dim3(grid[0], grid[1], grid[2]),
        dim3(block[0], block[1], block[2]), arguments, 0, nullptr);
    REQUIRE_MESSAGE(result == cudaSuccess, one.kernel, ": ",
                    std::string(cudaGetErrorString(result)));
    const cudaError_t run = cudaDeviceSynchronize();
    REQUIRE_MESSAGE(run == cudaSuccess, one.kernel, ": ", std::string(cudaGetErrorString(run)));
  }
  REQUIRE(cudaMemcpy(copies.data(), checks.data, copies.size() * sizeof(Checks),
                     cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t i = 0; i < launches.size(); ++i) launches[i].checks = copies[i];
}

// The kernels, compiled with checks for the current device.
std::string checked_cubin(const Nvrtc& nvrtc, const std::string& source) {
  int device = 0, major = 0, minor = 0;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  REQUIRE(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess);
  REQUIRE(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess);
  return nvrtc.cubin(source,
                     {"--std=c++20", "--disable-warnings", "-DCHECKED",
                      "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor)});
}

// The addresses of the parameters: with a margin on both sides.
struct MarginBuffers {
  DeviceBytes bytes{2 * kMarginBytes * kCudaPointers};
  [[nodiscard]] std::array<std::uint64_t, kCudaPointers> addresses() const {
    std::array<std::uint64_t, kCudaPointers> made = {};
    for (std::size_t i = 0; i < kCudaPointers; ++i)
      made[i] = reinterpret_cast<std::uint64_t>(bytes.data) +
                static_cast<std::uint64_t>(kMarginBytes) * (2 * i + 1);
    return made;
  }
};

}  // namespace

TEST_CASE("cuda footprint: no thread of a random kernel leaves it on a GPU") {
  if (!have_gpu()) return;
  const Nvrtc nvrtc;
  if (!nvrtc.exists()) return;
  const CurrentDevice current(gpu());
  const CudaKernelSeeds seeds(25);
  const MarginBuffers buffers;
  FootprintShares shares;
  std::size_t compared = 0;  // launches of which an access was compared
  for (RandomCudaModule& made : random_cuda_modules(seeds)) {
    CAPTURE(made.options[2]);
    const detail::PtxModule module(nvrtc.ptx(made.source, made.options));
    REQUIRE(module.problem() == "");
    std::vector<CheckedLaunch> launches;
    for (RandomCudaKernel& kernel : made.kernels) {
      const detail::PtxFunction* entry = module.find_entry(kernel.name());
      REQUIRE(entry != nullptr);
      const detail::FootprintProgram program(module, *entry);
      for (int i = 0; i < kLaunchesOfKernel; ++i) {
        const CudaLaunch launch = kernel.launch(buffers.addresses());
        const detail::Footprint footprint = footprint_of(program, launch);
        shares.add(kernel, launch, footprint);
        launches.push_back({kernel.name(), launch, checks_of(footprint)});
      }
    }
    run_checked(CheckedModule(checked_cubin(nvrtc, made.source)), launches);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Checks& checks = launches[i].checks;
      compared += checks.has_compared != 0;
      if (checks.violations == 0 && checks.far_away == 0) continue;
      CAPTURE(launches[i].launch.grid[0]);
      CAPTURE(launches[i].launch.block[0]);
      CAPTURE(launches[i].launch.arguments.n);
      CAPTURE(launches[i].launch.arguments.m);
      CAPTURE(launches[i].launch.arguments.u);
      CAPTURE(launches[i].launch.arguments.w);
      CAPTURE(launches[i].launch.arguments.k);
      CAPTURE(checks.pointer);
      CAPTURE(checks.offset);
      CAPTURE(checks.bytes);
      CAPTURE(checks.block[0]);
      CAPTURE(checks.block[1]);
      CAPTURE(made.kernels[i / kLaunchesOfKernel].source());
      FAIL_CHECK(launches[i].kernel, ": accesses outside of the footprint: ", checks.violations,
                 ", not executed: ", checks.far_away);
    }
  }
  if (seeds.is_chosen) MESSAGE(shares.text(), "\n", compared, " launches compared");
  CHECK(2 * shares.bounded >= shares.pointers());
  CHECK(2 * compared >= shares.launches);
}

TEST_CASE("cuda footprint: one that lacks a byte is found on a GPU") {
  if (!have_gpu()) return;
  const Nvrtc nvrtc;
  if (!nvrtc.exists()) return;
  const CurrentDevice current(gpu());
  const MarginBuffers buffers;
  const std::string source = cuda_source(kPlainCudaKernel);
  const detail::PtxModule module(nvrtc.ptx(source, {"--gpu-architecture=compute_90"}));
  const detail::PtxFunction* entry = module.find_entry("plain");
  REQUIRE(entry != nullptr);
  const CudaLaunch launch{.grid = {5, 1, 1},
                          .block = {32, 1, 1},
                          .arguments = {.addresses = buffers.addresses(), .n = 150}};
  const detail::Footprint footprint =
      footprint_of(detail::FootprintProgram(module, *entry), launch);
  REQUIRE(footprint.pointers[1].bytes.size() == 1);
  std::vector<CheckedLaunch> launches;
  const auto add = [&](std::int64_t detail::BlockBytes::*bound, std::int64_t change) {
    detail::Footprint changed = footprint;
    changed.pointers[1].bytes[0].*bound += change;
    launches.push_back({"plain", launch, checks_of(changed)});
  };
  add(&detail::BlockBytes::begin, 0);
  add(&detail::BlockBytes::begin, 1);
  add(&detail::BlockBytes::end, -1);
  add(&detail::BlockBytes::highest, -1);
  launches.push_back(launches[0]);
  launches.back().checks.margin = 128;
  run_checked(CheckedModule(checked_cubin(nvrtc, source)), launches);
  CHECK(launches[0].checks.has_compared == 1);
  CHECK(launches[0].checks.violations == 0);
  CHECK(launches[0].checks.far_away == 0);
  CHECK(launches[1].checks.violations == 5);  // the first thread of each block
  CHECK(launches[1].checks.offset == std::int64_t{launches[1].checks.block[0]} * 128);
  CHECK(launches[2].checks.violations == 4);  // the last one, if it accesses anything
  CHECK(launches[2].checks.offset == std::int64_t{launches[2].checks.block[0]} * 128 + 124);
  CHECK(launches[3].checks.violations == 1);
  CHECK(launches[3].checks.pointer == 1);
  CHECK(launches[3].checks.bytes == 4);
  CHECK(launches[3].checks.block[0] == 4);
  CHECK(launches[3].checks.offset == 149 * 4);
  CHECK(launches[4].checks.far_away == 150 - 32);
}

}  // namespace reprise::test

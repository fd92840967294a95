#include "cuda/gpu.hpp"

#include <cstdlib>
#include <string_view>

#include "backend/cuda/cuda_driver.hpp"
#include "support/skip.hpp"

namespace reprise::test {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Device open_gpu(std::string& reason) {
  const Instance instance({.application = "reprise_cuda_tests", .validation = Validation::Full});
  reason = instance.gpu_unavailable_reason();
  if (!reason.empty()) return {};
  const std::string_view named = environment("REPRISE_DEVICE");
  return instance.open_device(DeviceSelector::named(named.empty() ? "cuda:0" : named));
}

struct OpenedGpu {
  std::string reason;
  Device device = open_gpu(reason);
};

const OpenedGpu& opened() {
  static const OpenedGpu gpu;
  return gpu;
}

}  // namespace

const Device& gpu() { return opened().device; }

bool have_gpu() {
  if (gpu()) return true;
  const bool required = environment("REPRISE_REQUIRE_GPU") == "1";
  CHECK_MESSAGE(!required, "this test needs a GPU: ", opened().reason);
  if (!required) skip_test_case(opened().reason);
  return false;
}

CudaState cuda_state() {
  CudaState state;
  REQUIRE(detail::CudaDriver::get().cuCtxGetCurrent(&state.context) == CUDA_SUCCESS);
  state.pending = cudaPeekAtLastError();
  return state;
}

Gpu::Gpu() {
  if (!device) return;
  queue = device.create_queue({.label = "test"});
  pool = device.create_pool({.label = "test"});
}

}  // namespace reprise::test

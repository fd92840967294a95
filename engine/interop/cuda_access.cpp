#include "interop/cuda_access.hpp"

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse_host(std::string_view call, std::string_view selector) {
  fail(ErrorCode::Unsupported, Stage::Open, "",
       concat(call, " requires a GPU, but the device is ", selector));
}

// Casts `found` to Wanted, a class of the CUDA device.
template <class Target, class Found>
Target& as(Found& found, std::string_view call, std::string_view selector) {
  auto* const target = dynamic_cast<Target*>(&found);
  if (target == nullptr) refuse_host(call, selector);
  return *target;
}

}  // namespace

CudaBackend& cuda_backend(const Device& device, std::string_view call) {
  static_cast<void>(require_handle(core_of(device), "Device", call, Stage::Open));
  require_outside_callback("", call, Stage::Open, "");
  return as<CudaBackend>(core_of(device)->backend(), call, device.info().selector);
}

CudaQueue& cuda_queue(const Queue& queue, std::string_view call) {
  static_cast<void>(require_handle(core_of(queue), "Queue", call, Stage::Open));
  require_outside_callback("", call, Stage::Open, "");
  return as<CudaQueue>(core_of(queue)->backend(), call, core_of(queue)->device()->info().selector);
}

const CudaKernel& cuda_kernel(const Kernel& kernel, std::string_view call) {
  static_cast<void>(require_handle(core_of(kernel), "Kernel", call, Stage::Open));
  require_outside_callback("", call, Stage::Open, "");
  return as<const CudaKernel>(static_cast<const BackendKernel&>(*core_of(kernel)->backend), call,
                              core_of(kernel)->device->selector);
}

const CudaExec& cuda_exec(const CapturedGraph& graph, std::string_view call) {
  static_cast<void>(require_handle(core_of(graph), "CapturedGraph", call, Stage::Open));
  require_outside_callback("", call, Stage::Open, "");
  core_of(graph)->make_resident();
  return as<CudaExec>(core_of(graph)->exec(), call, core_of(graph)->device()->info().selector);
}

}  // namespace reprise::detail

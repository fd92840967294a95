#include "interop/cuda_access.hpp"

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse_empty(std::string_view call, std::string_view type) {
  fail(ErrorCode::InvalidArgument, Stage::Open, "", concat(call, " got an empty ", type));
}

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
  if (!device) refuse_empty(call, "Device");
  return as<CudaBackend>(device.core()->backend(), call, device.info().selector);
}

CudaQueue& cuda_queue(const Queue& queue, std::string_view call) {
  if (!queue) refuse_empty(call, "Queue");
  return as<CudaQueue>(queue.core()->backend(), call, queue.core()->device()->info().selector);
}

const CudaKernel& cuda_kernel(const Kernel& kernel, std::string_view call) {
  if (!kernel) refuse_empty(call, "Kernel");
  return as<const CudaKernel>(static_cast<const BackendKernel&>(*kernel.core()->backend), call,
                              kernel.core()->device->selector);
}

const CudaExec& cuda_exec(const CapturedGraph& graph, std::string_view call) {
  if (!graph) refuse_empty(call, "CapturedGraph");
  graph.core()->make_resident();
  return as<CudaExec>(graph.core()->exec(), call, graph.core()->device()->info().selector);
}

}  // namespace reprise::detail

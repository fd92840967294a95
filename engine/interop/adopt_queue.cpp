// Adopts streams of the application as queues, returns the native streams of queues, and sets the
// current device.
#include <reprise/cuda_interop.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "interop/cuda_access.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::inline REPRISE_ABI {

class CurrentDevice::Scope {
 public:
  explicit Scope(std::shared_ptr<const detail::CudaContext> context)
      : context_(std::move(context)), device_(*context_, Stage::Open) {}

 private:
  std::shared_ptr<const detail::CudaContext> context_;
  detail::DeviceScope device_;
};

CurrentDevice::CurrentDevice(const Device& device)
    : scope_(std::make_unique<Scope>(detail::cuda_backend(device, "CurrentDevice").context())) {}

CurrentDevice::~CurrentDevice() = default;

CUcontext native_context(const Device& device) {
  return detail::cuda_backend(device, "native_context").context()->handle;
}

Queue from_native(const Device& device, CUstream stream, const QueueDesc& desc) {
  const std::shared_ptr<const detail::CudaContext>& context =
      detail::cuda_backend(device, "from_native").context();
  detail::core_of(device)->require_usable(Stage::Open);
  if (desc.priority != 0) {
    detail::fail(ErrorCode::InvalidArgument, Stage::Open, desc.label,
                 detail::concat("from_native of a stream as queue ", desc.label, ": priority ",
                                desc.priority,
                                " was requested, and the stream keeps its own; omit .priority"));
  }
  auto queue = std::make_unique<detail::CudaQueue>(context, stream, desc.label);
  return detail::make_handle<Queue>(detail::QueueCore::make(
      detail::core_of(device), std::move(queue), desc.label, detail::QueueOrigin::Adopted));
}

CUstream native_stream(const Queue& queue) {
  detail::CudaQueue& native = detail::cuda_queue(queue, "native_stream");
  detail::core_of(queue)->share(Stage::Open);
  return static_cast<CUstream>(native.native());
}

CUstream release(const Queue& queue) {
  detail::CudaQueue& native = detail::cuda_queue(queue, "release");
  detail::core_of(queue)->share(Stage::Open);
  return native.release();
}

}  // namespace reprise::inline REPRISE_ABI

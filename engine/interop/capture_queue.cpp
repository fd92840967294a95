// Captures work that the application submits to a stream.
#include <reprise/cuda_interop.hpp>

#include <string>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "interop/cuda_access.hpp"
#include "interop/native_graph.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

using detail::CaptureSource;
using detail::concat;
using detail::QueueCapture;

void require_queue(const Queue& queue, std::string_view call) {
  static_cast<void>(detail::require_handle(detail::core_of(queue), "Queue", call, Stage::Record));
  detail::require_outside_callback("", call, Stage::Record, queue.label());
}

// The native stream of `queue` and the context for calls on it.
struct NativeStream {
  NativeStream(const Queue& queue, std::string_view call)
      : stream(static_cast<CUstream>(detail::cuda_queue(queue, call).native())),
        device(detail::make_handle<Device>(detail::core_of(queue)->device())) {
    context = detail::cuda_backend(device, call).context();
    detail::core_of(queue)->share(Stage::Record);
  }
  CUstream stream;
  Device device;
  std::shared_ptr<const detail::CudaContext> context;
};

// Ends the driver's capture, within a scope. `graph` is null if the capture failed. Returns the
// driver's result.
CUresult end_native(const NativeStream& native, detail::OwnedGraph& graph) {
  CUgraph captured = nullptr;
  const CUresult result = native.context->driver.cuStreamEndCapture(native.stream, &captured);
  graph = detail::OwnedGraph(captured);
  return result;
}

std::string_view explain(CUresult result) {
  switch (result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "work was forked to another stream and not joined: record an event there and wait for "
             "it before the end";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return "the capture waited for an earlier event, or a stream outside it waited for one of "
             "its events";
    case CUDA_ERROR_STREAM_CAPTURE_MERGE: return "two captures were joined by an event";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "an operation used the legacy default stream, which synchronises with every stream";
    default:
      return "a thread that the capture mode covers made a call that captures forbid, such as an "
             "allocation, a synchronisation or a query";
  }
}

// Throws CaptureInvalidated with the reason, CaptureUnmatched, or another driver error.
void check_end(const NativeStream& native, CUresult result, const QueueCapture& capture) {
  if (result == CUDA_SUCCESS) return;
  try {
    detail::throw_cuda_error(
        detail::NativeApi::Driver, result, "cuStreamEndCapture",
        native.context->at(Stage::Record, concat("capture ", capture.label())));
  } catch (const Error& error) {
    const bool is_of_capture =
        result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT;
    if (!is_of_capture) throw;
    ErrorDetails details = error.details();
    details.code = result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED ? ErrorCode::CaptureUnmatched
                                                                 : ErrorCode::CaptureInvalidated;
    details.label = capture.label();
    throw Error(std::move(details), concat("capture ", capture.label(), ": ", explain(result)));
  }
}

CapturedGraph end(const Queue& queue, const std::shared_ptr<CapturePool>& pool,
                  const AdoptedGraphDesc& desc, std::string_view call) {
  require_queue(queue, call);
  const NativeStream native(queue, call);
  const std::shared_ptr<QueueCapture> capture = detail::core_of(queue)->captures().current();
  if (!capture || capture->source() != CaptureSource::Stream) {
    detail::fail(ErrorCode::CaptureUnmatched, Stage::Record, desc.label,
                 concat(call, " on queue ", queue.label(),
                        ", which has no capture; call begin_capture first"));
  }
  capture->require_thread();
  const detail::SetupScope scope(*native.context, Stage::Record);
  detail::OwnedGraph graph;
  const CUresult result = end_native(native, graph);
  detail::core_of(queue)->captures().close(*capture);
  capture->require_valid();
  check_end(native, result, *capture);
  return detail::graph_of_native(native.device, detail::cuda_backend(native.device, call),
                                 std::move(graph),
                                 {.label = desc.label, .owner = desc.owner, .pool = pool});
}

}  // namespace

CUstreamCaptureMode to_cuda(CaptureMode mode) noexcept {
  switch (mode) {
    case CaptureMode::Global: return CU_STREAM_CAPTURE_MODE_GLOBAL;
    case CaptureMode::ThreadLocal: return CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    case CaptureMode::Relaxed: return CU_STREAM_CAPTURE_MODE_RELAXED;
  }
  return CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CaptureStatus capture_status(const Queue& queue) {
  require_queue(queue, "capture_status");
  if (const auto capture = detail::core_of(queue)->captures().current()) {
    if (capture->source() == CaptureSource::Calls ||
        capture->status() == CaptureStatus::Invalidated)
      return capture->status();
  }
  const NativeStream native(queue, "capture_status");
  const detail::DeviceScope scope(*native.context, Stage::Record);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  detail::cuda_check(native.context->driver.cuStreamIsCapturing(native.stream, &status),
                     "cuStreamIsCapturing", native.context->at(Stage::Record));
  switch (status) {
    case CU_STREAM_CAPTURE_STATUS_NONE: return CaptureStatus::None;
    case CU_STREAM_CAPTURE_STATUS_ACTIVE: return CaptureStatus::Active;
    case CU_STREAM_CAPTURE_STATUS_INVALIDATED: return CaptureStatus::Invalidated;
  }
  return CaptureStatus::None;
}

void begin_capture(const Queue& queue, CaptureMode mode) {
  require_queue(queue, "begin_capture");
  detail::require_enumerator("the CaptureMode", mode, Stage::Record);
  const NativeStream native(queue, "begin_capture");
  detail::core_of(queue)->require_current(Stage::Record);
  const auto capture = std::make_shared<QueueCapture>(
      CaptureSource::Stream, mode, concat("of the stream of queue ", queue.label()));
  detail::core_of(queue)->captures().open(capture, queue.label());
  try {
    const detail::DeviceScope scope(*native.context, Stage::Record);
    detail::cuda_check(native.context->driver.cuStreamBeginCapture(native.stream, to_cuda(mode)),
                       "cuStreamBeginCapture", native.context->at(Stage::Record, capture->label()));
  } catch (...) {
    detail::core_of(queue)->captures().close(*capture);
    throw;
  }
}

CapturedGraph end_capture(const Queue& queue, const AdoptedGraphDesc& desc) {
  return end(queue, nullptr, desc, "end_capture");
}

CapturedGraph end_capture_with_pool(const Queue& queue, const std::shared_ptr<CapturePool>& pool,
                                    const AdoptedGraphDesc& desc) {
  if (!pool)
    detail::fail(ErrorCode::InvalidArgument, Stage::Record, desc.label,
                 "end_capture_with_pool got no pool; use end_capture without one");
  return end(queue, pool, desc, "end_capture_with_pool");
}

CaptureScope::CaptureScope(const Queue& queue, CaptureMode mode) : queue_(queue) {
  begin_capture(queue_, mode);
}

CaptureScope::~CaptureScope() {
  if (!queue_) return;
  try {
    const std::shared_ptr<QueueCapture> capture = detail::core_of(queue_)->captures().current();
    const NativeStream native(queue_, "CaptureScope");
    const detail::SetupScope scope(*native.context, Stage::Record);
    detail::OwnedGraph dropped;
    static_cast<void>(end_native(native, dropped));
    if (capture) detail::core_of(queue_)->captures().close(*capture);
  } catch (...) {
    // The device is lost, and the stream with it.
  }
}

CapturedGraph CaptureScope::end(const AdoptedGraphDesc& desc) {
  if (!queue_)
    detail::fail(ErrorCode::CaptureUnmatched, Stage::Record, desc.label,
                 "end() of a CaptureScope that has already ended");
  require_queue(queue_, "CaptureScope::end");
  if (const auto capture = detail::core_of(queue_)->captures().current()) capture->require_thread();
  const Queue queue = std::exchange(queue_, Queue());
  return end_capture(queue, desc);
}

}  // namespace reprise::inline REPRISE_ABI

#include "runtime/queue/queue_capture.hpp"

#include <utility>

#include "base/enum_names.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

CaptureStatus QueueCapture::status() const {
  const std::lock_guard lock(mutex_);
  return cause_.empty() ? CaptureStatus::Active : CaptureStatus::Invalidated;
}

std::string QueueCapture::cause() const {
  const std::lock_guard lock(mutex_);
  return cause_;
}

void QueueCapture::refuse(Stage stage, std::string_view graph, std::string_view queue) {
  const std::string_view what = stage == Stage::Launch ? "launch" : "upload";
  const bool is_same_thread = std::this_thread::get_id() == thread_;
  const bool invalidates =
      mode_ == CaptureMode::Global || (mode_ == CaptureMode::ThreadLocal && is_same_thread);
  if (invalidates) {
    const std::lock_guard lock(mutex_);
    if (cause_.empty()) {
      cause_ = concat("the ", what, " of graph ", graph, " on queue ", queue,
                      is_same_thread ? "" : " by another thread");
    }
  }
  fail(ErrorCode::CapturingStream, stage, graph,
       concat("the ", what, " of graph ", graph, " on queue ", queue, ", where capture ", label_,
              " is open: end it first, or use another queue",
              invalidates ? "; the capture is invalid now" : ""));
}

void QueueCapture::require_valid() const {
  const std::string what = cause();
  if (!what.empty())
    fail(ErrorCode::CaptureInvalidated, Stage::Record, label_,
         concat("capture ", label_, " was invalidated by ", what));
}

void QueueCapture::require_thread() const {
  if (mode_ == CaptureMode::Relaxed || std::this_thread::get_id() == thread_) return;
  fail(ErrorCode::InvalidState, Stage::Record, label_,
       concat("capture ", label_, " of mode ", to_string(mode_),
              " ends on the thread that started it; CaptureMode::Relaxed ends on any"));
}

void QueueCaptureSlot::open(std::shared_ptr<QueueCapture> capture, std::string_view queue) {
  const std::lock_guard lock(mutex_);
  if (capture_) {
    fail(ErrorCode::InvalidState, Stage::Record, capture->label(),
         concat("capture ", capture->label(), " cannot begin on queue ", queue, ": capture ",
                capture_->label(), " is open there; end it first"));
  }
  capture_ = std::move(capture);
  is_open_.store(true, std::memory_order_release);
}

void QueueCaptureSlot::close(const QueueCapture& capture) noexcept {
  std::shared_ptr<QueueCapture> closed;  // released after the lock
  const std::lock_guard lock(mutex_);
  if (capture_.get() != &capture) return;
  closed = std::move(capture_);
  is_open_.store(false, std::memory_order_release);
}

std::shared_ptr<QueueCapture> QueueCaptureSlot::current() const {
  const std::lock_guard lock(mutex_);
  return capture_;
}

void QueueCaptureSlot::refuse(Stage stage, std::string_view graph, std::string_view queue) const {
  if (const auto capture = current()) capture->refuse(stage, graph, queue);
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

REPRISE_TO_STRING(CaptureMode, Global, ThreadLocal, Relaxed)
REPRISE_TO_STRING(CaptureStatus, None, Active, Invalidated)
REPRISE_TO_STRING(MemcpyDirection, HostToDevice, DeviceToHost, DeviceToDevice)

}  // namespace reprise::inline REPRISE_ABI

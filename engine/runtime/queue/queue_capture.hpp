// QueueCapture: one open capture of a queue: its mode, and the cause if it was invalidated.
// QueueCaptureSlot: the capture that is open on a queue. Know no device. Threads: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <reprise/error.hpp>
#include <reprise/stream_capture.hpp>

namespace reprise::detail {

// Calls: a StreamCapture records calls; the device's queue is not involved. Stream: the native
// stream itself is in capture mode.
enum class CaptureSource : std::uint8_t { Calls, Stream };

class QueueCapture {
 public:
  // The calling thread begins the capture. `label` names it in messages.
  QueueCapture(CaptureSource source, CaptureMode mode, std::string_view label)
      : source_(source), mode_(mode), label_(label) {}
  QueueCapture(const QueueCapture&) = delete;
  QueueCapture& operator=(const QueueCapture&) = delete;

  [[nodiscard]] CaptureSource source() const noexcept { return source_; }
  [[nodiscard]] CaptureMode mode() const noexcept { return mode_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] CaptureStatus status() const;
  // The event that invalidated the capture; empty while the capture is valid.
  [[nodiscard]] std::string cause() const;

  // Refuses a launch or upload of `graph` on the capture's queue: throws CapturingStream, and
  // invalidates the capture if its mode requires that.
  [[noreturn]] void refuse(Stage stage, std::string_view graph, std::string_view queue);
  // Throws CaptureInvalidated naming the cause if the capture was invalidated.
  void require_valid() const;
  // Throws InvalidState on a thread that may not end the capture.
  void require_thread() const;

 private:
  const CaptureSource source_;
  const CaptureMode mode_;
  const std::string label_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  std::string cause_;  // under mutex_
};

// Holds at most one capture. Without one, a launch reads one atomic.
class QueueCaptureSlot {
 public:
  // Throws InvalidState naming the queue if a capture is open already.
  void open(std::shared_ptr<QueueCapture> capture, std::string_view queue);
  void close(const QueueCapture& capture) noexcept;  // no effect unless `capture` is the open one
  [[nodiscard]] std::shared_ptr<QueueCapture> current() const;  // null: no open capture
  void require_none(Stage stage, std::string_view graph, std::string_view queue) const {
    if (is_open_.load(std::memory_order_acquire)) [[unlikely]]
      refuse(stage, graph, queue);
  }

 private:
  void refuse(Stage stage, std::string_view graph, std::string_view queue) const;

  std::atomic<bool> is_open_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<QueueCapture> capture_;  // under mutex_
};

}  // namespace reprise::detail

// QueueCapture: a capture that is open on a queue: what its mode allows, and what invalidated it.
// Knows no device. Threads: any.
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

// Calls: of a StreamCapture, which the device's own queue does not know of. Stream: the native
// stream itself is being captured.
enum class CaptureSource : std::uint8_t { Calls, Stream };

class QueueCapture {
 public:
  // Begun by this thread. `label` names the capture.
  QueueCapture(CaptureSource source, CaptureMode mode, std::string_view label)
      : source_(source), mode_(mode), label_(label) {}
  QueueCapture(const QueueCapture&) = delete;
  QueueCapture& operator=(const QueueCapture&) = delete;

  [[nodiscard]] CaptureSource source() const noexcept { return source_; }
  [[nodiscard]] CaptureMode mode() const noexcept { return mode_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] CaptureStatus status() const;
  // What invalidated it; empty where nothing did.
  [[nodiscard]] std::string cause() const;

  // A launch or upload of `graph` on the capture's queue: throws CapturingStream, and invalidates
  // the capture where its mode says so.
  [[noreturn]] void refuse(Stage stage, std::string_view graph, std::string_view queue);
  // Throws CaptureInvalidated naming the cause, where there is one.
  void require_valid() const;
  // Throws InvalidState where only the thread that began it may end it, and this is another.
  void require_thread() const;

 private:
  const CaptureSource source_;
  const CaptureMode mode_;
  const std::string label_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  std::string cause_;  // under mutex_
};

// One capture at a time. A launch that finds none looks at one word.
class QueueCaptureSlot {
 public:
  // Throws InvalidState naming the queue where a capture is open.
  void open(std::shared_ptr<QueueCapture> capture, std::string_view queue);
  void close(const QueueCapture& capture) noexcept;  // nothing where it is not the open one
  [[nodiscard]] std::shared_ptr<QueueCapture> current() const;  // null: none is open
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

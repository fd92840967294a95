// QueueCore: one queue of a device. It may be dropped while work is pending: the backend's queue is
// destroyed after that work completes. Graphs, buffers and fences hold it; the handles of the
// application share a QueueHandle too, whose end means that the application may end a stream of its
// own: the engine never uses it again. Threads: any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/queue.hpp>

#include "backend/backend.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/queue/queue_capture.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class DeferredQueue;

// Engine: only the engine submits work to the queue. Adopted: the application submits work that the
// engine does not see. Dropped: adopted, and the application has dropped its last handle.
enum class QueueOrigin : std::uint8_t { Engine, Adopted, Dropped };

class QueueCore final : public DeviceQueue, public std::enable_shared_from_this<QueueCore> {
 public:
  // The result is a handle.
  [[nodiscard]] static std::shared_ptr<QueueCore> make(std::shared_ptr<DeviceCore> device,
                                                       std::unique_ptr<BackendQueue> backend,
                                                       std::string_view label,
                                                       QueueOrigin origin = QueueOrigin::Engine);
  QueueCore(std::shared_ptr<DeviceCore> device, std::unique_ptr<BackendQueue> backend,
            std::string_view label, QueueOrigin origin);
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;
  ~QueueCore();

  // The queue as a Queue holds it. Owners that are not the application's hold without_handle().
  [[nodiscard]] std::shared_ptr<QueueCore> handle();
  [[nodiscard]] std::shared_ptr<QueueCore> without_handle() { return shared_from_this(); }

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] BackendQueue& backend() const noexcept { return *backend_; }
  [[nodiscard]] const std::shared_ptr<BackendQueue>& shared_backend() const noexcept {
    return backend_;
  }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] QueueOrigin origin() const noexcept {
    return origin_.load(std::memory_order_acquire);
  }
  // Call before the application gets the native queue: it counts as adopted from now on. Throws
  // StaleHandle if the queue is dropped.
  void share(Stage stage);
  // Meaningless without a trace.
  [[nodiscard]] std::uint32_t trace_id() const noexcept { return trace_id_; }
  [[nodiscard]] QueueCaptureSlot& captures() noexcept { return captures_; }
  [[nodiscard]] const QueueCaptureSlot& captures() const noexcept { return captures_; }
  [[nodiscard]] bool is_current() const noexcept;
  // Throws StaleHandle if the device was lost or shut down since the queue was made.
  void require_current(Stage stage) const;
  // Throws also StaleHandle if the queue is dropped. Call before submissions.
  void require_usable(Stage stage) const;

  // Makes later submissions start after `point`. Does nothing if the point is complete, is of this
  // queue, or was waited for already. For an adopted queue, waits for the application's work after
  // the point as well, until its last handle was dropped. Under DeviceCore::order().
  void wait_for(const QueuePoint& point);
  // True if no later submission must wait for `serial`, nor for work of the application after it.
  [[nodiscard]] bool is_obsolete(std::uint64_t serial) const noexcept;
  void wait_idle();  // throws DeviceLost
  void wait_idle_if_current() override;

 private:
  class QueueHandle;
  struct Awaited {
    std::uint64_t queue;  // id_
    std::uint64_t serial;
  };
  void require_undropped(Stage stage) const;
  // The application has dropped its last handle.
  void drop_native() noexcept;
  // The last submission that a wait for `serial` must cover.
  [[nodiscard]] std::uint64_t covering(std::uint64_t serial) const noexcept {
    return std::max(serial, dropped_at_.load(std::memory_order_acquire));
  }

  std::shared_ptr<DeviceCore> device_;
  std::shared_ptr<BackendQueue> backend_;
  std::string label_;
  std::atomic<QueueOrigin> origin_;
  std::atomic<std::uint64_t> dropped_at_{0};  // serial after all work of a dropped queue
  std::mutex handle_mutex_;                   // a leaf
  std::weak_ptr<QueueHandle> handle_;         // under handle_mutex_
  QueueCaptureSlot captures_;
  std::uint32_t generation_;
  std::uint64_t id_;  // unique in the process
  std::uint32_t trace_id_ = 0;
  std::vector<Awaited> awaited_;  // under DeviceCore::order()
  std::unique_ptr<DeferredQueue> deferred_;
};

}  // namespace reprise::detail

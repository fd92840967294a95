// QueueCore: one queue of a device. It may be dropped while work is pending: the backend's queue is
// destroyed after that work completes. Threads: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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
// engine does not see.
enum class QueueOrigin : std::uint8_t { Engine, Adopted };

class QueueCore final : public DeviceQueue {
 public:
  [[nodiscard]] static std::shared_ptr<QueueCore> make(std::shared_ptr<DeviceCore> device,
                                                       std::unique_ptr<BackendQueue> backend,
                                                       std::string_view label,
                                                       QueueOrigin origin = QueueOrigin::Engine);
  QueueCore(std::shared_ptr<DeviceCore> device, std::unique_ptr<BackendQueue> backend,
            std::string_view label, QueueOrigin origin);
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;
  ~QueueCore();

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] BackendQueue& backend() const noexcept { return *backend_; }
  [[nodiscard]] const std::shared_ptr<BackendQueue>& shared_backend() const noexcept {
    return backend_;
  }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] QueueOrigin origin() const noexcept {
    return origin_.load(std::memory_order_acquire);
  }
  // Call when the application gets the native queue: it counts as adopted from now on.
  void share() noexcept { origin_.store(QueueOrigin::Adopted, std::memory_order_release); }
  // Meaningless without a trace.
  [[nodiscard]] std::uint32_t trace_id() const noexcept { return trace_id_; }
  [[nodiscard]] QueueCaptureSlot& captures() noexcept { return captures_; }
  [[nodiscard]] const QueueCaptureSlot& captures() const noexcept { return captures_; }
  [[nodiscard]] bool is_current() const noexcept;
  // Throws StaleHandle if the device was lost or shut down since the queue was made.
  void require_current(Stage stage) const;

  // Makes later submissions start after `point`. Does nothing if the point is complete, is of this
  // queue, or was waited for already. For an adopted queue, waits for the application's work after
  // the point as well. Under DeviceCore::order().
  void wait_for(const QueuePoint& point);
  void wait_idle();  // throws DeviceLost
  void wait_idle_if_current() override;

 private:
  struct Awaited {
    std::uint64_t queue;  // id_
    std::uint64_t serial;
  };
  std::shared_ptr<DeviceCore> device_;
  std::shared_ptr<BackendQueue> backend_;
  std::string label_;
  std::atomic<QueueOrigin> origin_;
  QueueCaptureSlot captures_;
  std::uint32_t generation_;
  std::uint64_t id_;  // unique in the process
  std::uint32_t trace_id_ = 0;
  std::vector<Awaited> awaited_;  // under DeviceCore::order()
  std::unique_ptr<DeferredQueue> deferred_;
};

}  // namespace reprise::detail

// QueueCore: one queue of a device. May be dropped while work is pending on it: the device's queue
// goes when that is over. Threads: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/queue.hpp>

#include "backend/backend.hpp"
#include "runtime/queue/queue_capture.hpp"
#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class DeviceCore;
class DeferredQueue;

// Ours: only the engine submits to it. Adopted: the application submits work of its own, which the
// engine does not see.
enum class QueueOrigin : std::uint8_t { Engine, Adopted };

class QueueCore : public std::enable_shared_from_this<QueueCore> {
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
  // The application got to know what is behind the queue: from now on it is like an adopted one.
  void share() noexcept { origin_.store(QueueOrigin::Adopted, std::memory_order_release); }
  [[nodiscard]] std::uint32_t trace_id() const noexcept {
    return trace_id_;
  }  // means something only with a trace
  [[nodiscard]] QueueCaptureSlot& captures() noexcept { return captures_; }
  [[nodiscard]] const QueueCaptureSlot& captures() const noexcept { return captures_; }
  [[nodiscard]] bool is_current() const noexcept;
  // Throws StaleHandle where the device was lost since the queue was made.
  void require_current(Stage stage) const;

  // Makes later submissions start after `point`, unless it is over, on this queue, or was waited
  // for already. On an adopted queue the application's own work after the point counts too. Under
  // DeviceCore::order().
  void follow(const QueuePoint& point);

 private:
  struct Followed {
    std::uint64_t queue;  // id_
    std::uint64_t serial;
  };
  std::shared_ptr<DeviceCore> device_;
  std::shared_ptr<BackendQueue> backend_;
  std::string label_;
  std::atomic<QueueOrigin> origin_;
  QueueCaptureSlot captures_;
  std::uint32_t generation_;
  std::uint64_t id_;  // never used again
  std::uint32_t trace_id_ = 0;
  std::vector<Followed> followed_;  // under DeviceCore::order()
  std::unique_ptr<DeferredQueue> deferred_;
};

}  // namespace reprise::detail

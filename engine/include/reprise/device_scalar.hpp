// DeviceScalar: one value in device memory that kernels read where it is, and that the application
// sets in the order of a queue: launches before keep the value that they had, launches after see
// the new one, and nobody waits. The bytes go through a ring in pinned memory. No graph is touched:
// where a value changes with every launch, or many graphs read it, this is the way; a scalar slot
// (slot()) costs the device nothing instead. Threads: handles are values; sets of one scalar come
// from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <reprise/buffer.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>

namespace reprise {

namespace detail {
void write_scalar(const BufferView& scalar, const Queue& queue, std::span<const std::byte> bytes);
}

// Record it like a buffer: read(scalar).
template <class T>
class DeviceScalar : public GpuRef<T> {
 public:
  static constexpr std::size_t kMaxBytes = 64;
  static_assert(sizeof(T) <= kMaxBytes,
                "a DeviceScalar holds at most 64 bytes; use a buffer and a copy");

  DeviceScalar() = default;
  // In `pool`, set to `value` on `queue`, which later sets go to as well.
  DeviceScalar(CapturePool& pool, Queue queue, const T& value, std::string_view name = "")
      : GpuRef<T>(pool.allocate<T>(1, name)), queue_(std::move(queue)) {
    set(value);
  }

  // After everything that was launched on the queue so far, before everything launched there later;
  // launches on other queues that read it wait for this, as for any write. Throws StaleHandle,
  // CapturingStream, DeviceLost.
  void set(const T& value) const { set(queue_, value); }
  void set(const Queue& queue, const T& value) const {
    detail::write_scalar(*this, queue, std::as_bytes(std::span(&value, 1)));
  }

  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

 private:
  Queue queue_;
};

}  // namespace reprise

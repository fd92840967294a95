// DeviceScalar: a value in device memory that the application sets in queue order. Earlier launches
// keep the old value, later launches read the new one, and neither waits for the host. The bytes
// pass through a ring in pinned memory; no graph is updated. Suits values that change at every
// launch or that many graphs read. A scalar slot (<reprise/scalar_slot.hpp>) costs the device
// nothing instead. Threads: handles are values; one thread at a time sets a scalar.
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

namespace reprise::detail {
REPRISE_API void write_scalar(const BufferView& scalar, const Queue& queue,
                              std::span<const std::byte> bytes);
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A GpuRef to one value: record it as read(scalar).
template <class T>
class DeviceScalar : public GpuRef<T> {
 public:
  static constexpr std::size_t kMaxBytes = 64;  // size of a slot in the ring
  static_assert(sizeof(T) <= kMaxBytes,
                "a DeviceScalar holds at most 64 bytes; use a buffer and a copy");

  DeviceScalar() = default;
  // Allocates the value in `pool` and sets it to `value` on `queue`, the default queue of set().
  // Throws as CapturePool::allocate and set().
  DeviceScalar(CapturePool& pool, Queue queue, const T& value, std::string_view name = "")
      : GpuRef<T>(pool.allocate<T>(1, name)), queue_(std::move(queue)) {
    set(value);
  }

  // Sets the value after all earlier launches on the queue and before all later ones. Launches on
  // other queues that use it wait for the set, as for any write. Throws NotInitialized,
  // WrongDevice, StaleHandle, CapturingStream, DeviceLost, InvalidState in a host callback,
  // InvalidArgument for memory of another kind.
  void set(const T& value) { set(queue_, value); }
  void set(const Queue& queue, const T& value) {
    detail::write_scalar(*this, queue, std::as_bytes(std::span(&value, 1)));
  }

  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

 private:
  Queue queue_;
};

}  // namespace reprise::inline REPRISE_ABI

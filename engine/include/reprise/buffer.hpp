// Handles of memory: GpuRef<T>, HostRef<T>, and what a command takes of them (views, arguments,
// host copies). Knows no device. Threads: handles are values; recording from many threads is fine,
// see record_write for the exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <reprise/types.hpp>

namespace reprise {

class Queue;
class Fence;
class LaunchArgs;

namespace detail {
struct BufferCore;
// Throws OutOfRange where [offset, offset + size) leaves `whole` bytes.
void check_subrange(std::uint64_t whole, std::uint64_t offset, std::uint64_t size,
                    std::string_view name);
// `count` elements in bytes; the largest number, which no buffer holds, where that is more than 64
// bits.
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t count,
                                               std::uint64_t element_bytes) noexcept {
  return count > ~std::uint64_t{0} / element_bytes ? ~std::uint64_t{0} : count * element_bytes;
}
}  // namespace detail

// A range of bytes of one buffer; keeps the buffer alive. The untyped base of GpuRef and HostRef.
class BufferView {
 public:
  BufferView() = default;
  BufferView(std::shared_ptr<detail::BufferCore> core, std::uint64_t offset,
             std::uint64_t bytes) noexcept
      : core_(std::move(core)), offset_(offset), bytes_(bytes) {}

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }  // bytes into the buffer
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] BufferId id() const noexcept;
  [[nodiscard]] BufferKind kind() const;
  [[nodiscard]] std::string_view name() const noexcept;
  // True once the pool was cleared or the device was lost; using it then gives StaleHandle.
  [[nodiscard]] bool is_stale() const noexcept;
  // The address on the device (for PinnedHost: the one both sides use). Throws Unsupported for a
  // transient, StaleHandle.
  [[nodiscard]] void* address() const;
  [[nodiscard]] std::uint64_t raw_device_ptr() const;  // the same, as CUdeviceptr has it
  [[nodiscard]] bool is_empty() const noexcept { return bytes_ == 0; }
  // The device's generation when the buffer was made; 0 for a handle without a buffer.
  [[nodiscard]] std::uint32_t generation() const noexcept;
  // N of its device "cuda:N", 0 for the host device; none for a handle without a buffer, and once
  // the device was shut down.
  [[nodiscard]] std::optional<std::uint32_t> device_id() const noexcept;
  // What keeps the buffer alive. Throws StaleHandle. With push(), of GpuRef and HostRef: see
  // DevSliceArg in <reprise/launch_args.hpp>.
  [[nodiscard]] std::shared_ptr<const void> validate() const;
  [[nodiscard]] BufferView subview(std::uint64_t offset,
                                   std::uint64_t bytes) const;  // throws OutOfRange
  // The same range of the copy that a graph's instance `i` uses where a command names this; of copy
  // 0, which is this. Throws OutOfRange where the buffer was not made with as many (PerReplica).
  [[nodiscard]] BufferView instance(std::uint32_t i) const;
  [[nodiscard]] std::uint32_t replicas()
      const noexcept;  // copies there are; 1: all instances use the same memory
  [[nodiscard]] const std::shared_ptr<detail::BufferCore>& core() const noexcept { return core_; }

  // Work on this buffer that the engine did not launch: later launches on other queues wait for it.
  // The second form tells the engine that `queue` wrote up to and including everything submitted to
  // it so far.
  void record_write(const Fence& fence) const;
  void record_write(const Queue& queue) const;
  // The queue whose write to this buffer was launched last (the seeds' last_write_stream); an empty
  // Queue if none.
  [[nodiscard]] Queue last_write_stream() const;

 protected:
  std::shared_ptr<detail::BufferCore> core_;
  std::uint64_t offset_ = 0, bytes_ = 0;
};

// What GpuRef::access() gives: memory that was there when it was asked for, and what keeps it
// there, unless its pool is cleared.
template <class T>
struct DeviceSlice {
  T* data = nullptr;       // on the device
  std::uint64_t size = 0;  // in T
  std::shared_ptr<const void> owner = nullptr;
};

// `count` values of T in device memory, persistent or transient.
template <class T>
class GpuRef : public BufferView {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  using value_type = T;
  GpuRef() = default;
  explicit GpuRef(BufferView view) noexcept : BufferView(std::move(view)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_ / sizeof(T); }  // in T
  [[nodiscard]] T* data() const { return static_cast<T*>(address()); }  // device address
  // Throws StaleHandle once the device was lost, rebuilt or shut down, or the pool cleared;
  // Unsupported for a transient.
  [[nodiscard]] DeviceSlice<T> access() const { return {data(), size(), core_}; }
  void push(LaunchArgs& args) const;  // as read_write(*this)
  [[nodiscard]] GpuRef slice(std::uint64_t first, std::uint64_t count) const {  // in T
    return GpuRef(subview(detail::bytes_of(first, sizeof(T)), detail::bytes_of(count, sizeof(T))));
  }
  template <class U>
  [[nodiscard]] GpuRef<U> as() const {
    return GpuRef<U>(*this);
  }
  [[nodiscard]] GpuRef instance(std::uint32_t i) const { return GpuRef(BufferView::instance(i)); }
};

// `count` values of T in pinned host memory. The host may touch them while no launch that does is
// pending.
template <class T>
class HostRef : public BufferView {
  static_assert(std::is_trivially_copyable_v<T>, "host copies move trivially copyable types");

 public:
  using value_type = T;
  HostRef() = default;
  explicit HostRef(BufferView view) noexcept : BufferView(std::move(view)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_ / sizeof(T); }
  [[nodiscard]] T* data() const { return static_cast<T*>(address()); }
  void push(LaunchArgs& args) const;  // as read_write(*this)
  [[nodiscard]] std::span<T> span() const { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] T& operator[](std::uint64_t i) const { return data()[i]; }
  [[nodiscard]] HostRef slice(std::uint64_t first, std::uint64_t count) const {
    return HostRef(subview(detail::bytes_of(first, sizeof(T)), detail::bytes_of(count, sizeof(T))));
  }
  [[nodiscard]] HostRef instance(std::uint32_t i) const { return HostRef(BufferView::instance(i)); }
};

// Host bytes that a copy reads or writes, with their lifetime in the name. A bare span is refused
// by the compiler.
struct HostBytes {
  enum class Lifetime : std::uint8_t { Snapshot, Borrowed };
  Lifetime lifetime;
  void* data;  // never written through for a snapshot
  std::uint64_t bytes;
  bool writable;
};
// Bytes are taken now, while recording; the source may die right after.
template <class T>
[[nodiscard]] HostBytes snapshot(std::span<const T> source) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {HostBytes::Lifetime::Snapshot, const_cast<void*>(static_cast<const void*>(source.data())),
          source.size_bytes(), false};
}
// Bytes are read or written at each replay; the caller keeps them alive until the last replay has
// completed.
template <class T>
[[nodiscard]] HostBytes borrowed(std::span<T> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {HostBytes::Lifetime::Borrowed, const_cast<void*>(static_cast<const void*>(bytes.data())),
          bytes.size_bytes(), !std::is_const_v<T>};
}
template <class C>
  requires requires(const C& c) { std::span(c); }
[[nodiscard]] HostBytes snapshot(const C& source) {
  return snapshot(std::span<const typename C::value_type>(source));
}
template <class C>
  requires requires(C& c) { std::span(c); }
[[nodiscard]] HostBytes borrowed(C& bytes) { return borrowed(std::span(bytes)); }

// One access of a command to a range: what read(x), write(x) and read_write(x) give.
struct AccessedView {
  BufferView view;
  Access access = Access::Read;
};
[[nodiscard]] inline AccessedView read(BufferView v) { return {std::move(v), Access::Read}; }
[[nodiscard]] inline AccessedView write(BufferView v) { return {std::move(v), Access::Write}; }
[[nodiscard]] inline AccessedView read_write(BufferView v) {
  return {std::move(v), Access::ReadWrite};
}

namespace detail {

// One kernel argument while it is recorded: a buffer with its access, or the bytes of a value.
// Points into the caller.
struct Argument {
  const BufferView* view = nullptr;  // null: a value
  Access access = Access::Read;
  const void* value = nullptr;
  std::uint32_t size = 0;  // bytes of the value
  const std::string_view* slot =
      nullptr;  // its name, of a value that may be set later; null: it stays
};
[[nodiscard]] inline Argument make_argument(const AccessedView& a) {
  return {&a.view, a.access, nullptr, 0};
}
template <class T>
[[nodiscard]] Argument make_argument(const T& value) {
  static_assert(!std::is_base_of_v<BufferView, T>,
                "say how the kernel uses the buffer: read(x), write(x) or read_write(x)");
  static_assert(
      !std::is_pointer_v<T>,
      "pass buffers, not raw addresses: read(x), write(x) or read_write(x); adopt foreign ones");
  static_assert(std::is_trivially_copyable_v<T>, "kernel values are trivially copyable");
  return {nullptr, Access::Read, &value, static_cast<std::uint32_t>(sizeof(T))};
}

}  // namespace detail
}  // namespace reprise

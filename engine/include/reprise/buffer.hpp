// Handles to memory (BufferView, GpuRef<T>, HostRef<T>) and what commands make of them: declared
// accesses, kernel arguments, host copies. Must not depend on a device. Threads: handles are values
// and may be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <reprise/fwd.hpp>
#include <reprise/types.hpp>
#include <reprise/value_type.hpp>

namespace reprise::detail {
struct BufferCore;
// Throws OutOfRange unless [offset, offset + size) lies within `whole` bytes.
REPRISE_API void check_subrange(std::uint64_t whole, std::uint64_t offset, std::uint64_t size,
                                std::string_view name);
// count * element_bytes, saturated at 2^64 - 1, which no buffer holds.
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t count,
                                               std::uint64_t element_bytes) noexcept {
  return count > ~std::uint64_t{0} / element_bytes ? ~std::uint64_t{0} : count * element_bytes;
}
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A reference-counted handle to a range of bytes of one buffer; keeps the buffer alive. The untyped
// base of GpuRef and HostRef. Members of an empty handle throw NotInitialized, unless they are
// noexcept.
class REPRISE_API BufferView {
 public:
  using element_type = std::byte;
  BufferView() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }  // bytes into the buffer
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] BufferId id() const noexcept;
  [[nodiscard]] BufferKind kind() const;
  [[nodiscard]] std::string_view name() const noexcept;
  // True after the pool was cleared or the device was lost or shut down. Every use of the memory of
  // a stale handle throws StaleHandle.
  [[nodiscard]] bool is_stale() const noexcept;
  // The address of the first byte on the device; of PinnedHost memory, on both sides. It is valid
  // while a handle, recording or graph holds the buffer, and freeing does not wait for work that
  // the engine does not know. Throws StaleHandle, and Unsupported for a transient or a condition.
  [[nodiscard]] void* data() const;
  [[nodiscard]] bool is_empty() const noexcept { return bytes_ == 0; }
  // The device's generation when the buffer was allocated; 0 for an empty handle.
  [[nodiscard]] std::uint32_t generation() const noexcept;
  // N of its device "cuda:N", 0 for the host device. nullopt for an empty handle and after the
  // device was shut down.
  [[nodiscard]] std::optional<std::uint32_t> device_id() const noexcept;
  // `bytes` bytes from `offset` of this range. Throws OutOfRange.
  [[nodiscard]] BufferView subview(std::uint64_t offset, std::uint64_t bytes) const;
  // True if both share at least one byte: as ranges of one buffer, or of adopted memory.
  [[nodiscard]] bool overlaps(const BufferView& other) const noexcept;
  // The same range of the copy that replica `i` of a graph accesses (PerReplica). Throws
  // OutOfRange if `i` is not less than replicas().
  [[nodiscard]] BufferView replica(std::uint32_t i) const;
  // Number of copies. 1: all replicas of a graph access the same memory.
  [[nodiscard]] std::uint32_t replicas() const noexcept;

  // Announces a write that the engine did not launch. Later launches that use the buffer wait for
  // `fence`, or for everything that has been submitted to `queue` so far. Throws WrongDevice,
  // StaleHandle, Unsupported for a transient or a condition, InvalidState in a host callback.
  void record_write(const Fence& fence);
  void record_write(const Queue& queue);
  // The queue of the most recently launched write to this buffer; empty if there was none. Throws
  // StaleHandle, Unsupported for a transient or a condition.
  [[nodiscard]] Queue last_write_stream() const;

  // --- Names of other capture APIs; see engine/docs/reference.md ---
  // data() as a CUdeviceptr. Throws as data().
  [[nodiscard]] std::uint64_t raw_device_ptr() const;
  // An owner that keeps the buffer alive. Throws StaleHandle. With push() of GpuRef and HostRef
  // this satisfies DevSliceArg (<reprise/launch_args.hpp>).
  [[nodiscard]] std::shared_ptr<const void> validate() const;

 private:
  friend struct detail::HandleAccess;
  BufferView(std::shared_ptr<detail::BufferCore> core, std::uint64_t offset,
             std::uint64_t bytes) noexcept
      : core_(std::move(core)), offset_(offset), bytes_(bytes) {}

  std::shared_ptr<detail::BufferCore> core_;
  std::uint64_t offset_ = 0, bytes_ = 0;
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
// Throws InvalidArgument unless the range holds whole elements at aligned offsets.
REPRISE_API void check_elements(const BufferView& view, std::uint64_t element_bytes,
                                std::uint64_t alignment);
// Throws InvalidArgument unless the range is empty or PinnedHost memory.
REPRISE_API void check_pinned(const BufferView& view);
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// The result of GpuRef::access(): an address that was valid at the call, and an owner that keeps
// the memory allocated until the pool is cleared.
template <class T>
struct DeviceSlice {
  T* data = nullptr;       // device address
  std::uint64_t size = 0;  // in elements
  std::shared_ptr<const void> owner = nullptr;
};

// size() values of T in device memory, persistent or transient. Converts to GpuRef<const T>, which
// commands may only read.
template <class T>
class GpuRef : public BufferView {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  GpuRef() = default;
  // Throws InvalidArgument unless the range holds whole, aligned values of T.
  explicit GpuRef(BufferView view) : BufferView(std::move(view)) {
    detail::check_elements(*this, sizeof(T), alignof(T));
  }
  template <class U>
    requires std::is_same_v<T, const U> GpuRef(const GpuRef<U>& ref)
  noexcept : BufferView(ref) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes() / sizeof(T); }  // in elements
  // The device address. Throws as BufferView::data().
  [[nodiscard]] T* data() const { return static_cast<T*>(BufferView::data()); }
  // The device address with an owner. Throws as data().
  [[nodiscard]] DeviceSlice<T> access() const { return {data(), size(), validate()}; }
  // As read_write(*this); as read(*this) if T is const.
  void push(LaunchArgs& args) const;
  // Elements [first, first + count). Throws OutOfRange.
  [[nodiscard]] GpuRef slice(std::uint64_t first, std::uint64_t count) const {
    return GpuRef(subview(detail::bytes_of(first, sizeof(T)), detail::bytes_of(count, sizeof(T))));
  }
  // The same bytes as values of U. Throws InvalidArgument unless they hold whole, aligned values.
  template <class U>
  [[nodiscard]] GpuRef<U> as() const {
    static_assert(std::is_const_v<U> || !std::is_const_v<T>, "as<U>() keeps const");
    return GpuRef<U>(*this);
  }
  [[nodiscard]] GpuRef replica(std::uint32_t i) const { return GpuRef(BufferView::replica(i)); }
};

// size() values of T in pinned host memory. The host may access them while no pending launch does.
// Converts to HostRef<const T>.
template <class T>
class HostRef : public BufferView {
  static_assert(std::is_trivially_copyable_v<T>, "host copies move trivially copyable types");

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  HostRef() = default;
  // Throws InvalidArgument unless the range is PinnedHost memory with whole, aligned values of T.
  explicit HostRef(BufferView view) : BufferView(std::move(view)) {
    detail::check_elements(*this, sizeof(T), alignof(T));
    detail::check_pinned(*this);
  }
  template <class U>
    requires std::is_same_v<T, const U> HostRef(const HostRef<U>& ref)
  noexcept : BufferView(ref) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes() / sizeof(T); }  // in elements
  [[nodiscard]] T* data() const { return static_cast<T*>(BufferView::data()); }
  // As read_write(*this); as read(*this) if T is const.
  void push(LaunchArgs& args) const;
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size(); }
  [[nodiscard]] std::span<T> span() const { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] T& operator[](std::uint64_t i) const { return data()[i]; }  // `i` is not checked
  // Elements [first, first + count). Throws OutOfRange.
  [[nodiscard]] HostRef slice(std::uint64_t first, std::uint64_t count) const {
    return HostRef(subview(detail::bytes_of(first, sizeof(T)), detail::bytes_of(count, sizeof(T))));
  }
  [[nodiscard]] HostRef replica(std::uint32_t i) const { return HostRef(BufferView::replica(i)); }
};

// Host bytes that a copy reads or writes. snapshot() and borrowed() name their lifetime; a bare
// span does not compile.
struct HostBytes {
  enum class Lifetime : std::uint8_t { Snapshot, Borrowed };
  Lifetime lifetime;
  void* data;  // not written if `writable` is false
  std::uint64_t bytes;
  bool writable;
};
[[nodiscard]] REPRISE_API std::string_view to_string(HostBytes::Lifetime lifetime) noexcept;

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
// GpuRef<T> and HostRef<T>.
template <class R>
concept TypedRef = std::is_base_of_v<BufferView, R> && requires {
  typename R::value_type;
};
// A container of the application, not a buffer.
template <class C>
concept HostRange = !std::is_base_of_v<BufferView, C> && requires(C & c) {
  std::span(c);
};
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// Bytes that are copied while recording. The source may be destroyed right afterwards.
template <class T>
[[nodiscard]] HostBytes snapshot(std::span<const T> source) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {HostBytes::Lifetime::Snapshot, const_cast<void*>(static_cast<const void*>(source.data())),
          source.size_bytes(), false};
}
// Bytes that each replay reads or writes. The caller keeps them alive until the last replay has
// completed. Copies of overlapping bytes are ordered like accesses to one buffer, within a
// recording and between graphs; a host callback that accesses the bytes declares no access to
// them, so order it by edge() or a barrier, or use CapturePool::host.
template <class T>
[[nodiscard]] HostBytes borrowed(std::span<T> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {HostBytes::Lifetime::Borrowed, const_cast<void*>(static_cast<const void*>(bytes.data())),
          bytes.size_bytes(), !std::is_const_v<T>};
}
template <detail::HostRange C>
[[nodiscard]] HostBytes snapshot(const C& source) {
  return snapshot(std::span<const typename C::value_type>(source));
}
template <detail::HostRange C>
[[nodiscard]] HostBytes borrowed(C& bytes) {
  return borrowed(std::span(bytes));
}

// An access of a dispatch, of which block b, in linear order, accesses at most the elements
// [b * elements - around, (b + 1) * elements + around) of the view, or bytes if the view has no
// elements. `A`: AccessedView or AccessedRef.
template <class A>
struct AccessedByBlock {
  A accessed;
  std::uint32_t elements = 0, around = 0;
};

// A declared access of a command to a range of bytes. Holds the buffer.
struct AccessedView {
  // What the blocks of a dispatch access, for kernels whose code does not show it: later commands
  // of a segment then wait only for the blocks that they need. Checked kernels report what is
  // outside (UndeclaredAccess); otherwise it is a race. `elements` is at least 1
  // (InvalidArgument).
  [[nodiscard]] AccessedByBlock<AccessedView> by_block(std::uint32_t elements,
                                                       std::uint32_t around = 0) const {
    return {*this, elements, around};
  }
  BufferView view;
  Access access = Access::Read;
  bool is_declared = true;          // false: `access` is a default
  const ValueType* type = nullptr;  // of the elements; null: unknown
};
// A declared access to a buffer that has a name, at its address: recording copies no handle. It
// must not outlive that variable; the AccessedView that it converts to may.
struct AccessedRef {
  // As AccessedView::by_block.
  [[nodiscard]] AccessedByBlock<AccessedRef> by_block(std::uint32_t elements,
                                                      std::uint32_t around = 0) const {
    return {*this, elements, around};
  }
  operator AccessedView() const { return {*view, access, true, type}; }
  const BufferView* view;
  Access access;
  const ValueType* type;
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
template <class V>
concept AnyView = std::is_base_of_v<BufferView, V>;
// Memory of constant elements can only be read.
template <class V>
concept WritableView = AnyView<V> && !std::is_const_v<typename V::element_type>;
// The type of a view's elements; null: unknown.
template <class V>
[[nodiscard]] constexpr const ValueType* element_type_of() noexcept {
  if constexpr (TypedRef<V>) {
    return &value_type<typename V::value_type>;
  } else {
    return nullptr;
  }
}
// The default access: everything that the elements allow.
template <AnyView V>
[[nodiscard]] AccessedView undeclared(const V& view) {
  return {view, WritableView<V> ? Access::ReadWrite : Access::Read, false, element_type_of<V>()};
}
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

template <detail::AnyView V>
[[nodiscard]] AccessedRef read(const V& view) noexcept {
  return {&view, Access::Read, detail::element_type_of<V>()};
}
template <detail::WritableView V>
[[nodiscard]] AccessedRef write(const V& view) noexcept {
  return {&view, Access::Write, detail::element_type_of<V>()};
}
template <detail::WritableView V>
[[nodiscard]] AccessedRef read_write(const V& view) noexcept {
  return {&view, Access::ReadWrite, detail::element_type_of<V>()};
}
// Overloads for temporaries, which the AccessedView copies.
template <detail::AnyView V>
[[nodiscard]] AccessedView read(const V&& view) {
  return read(view);
}
template <detail::WritableView V>
[[nodiscard]] AccessedView write(const V&& view) {
  return write(view);
}
template <detail::WritableView V>
[[nodiscard]] AccessedView read_write(const V&& view) {
  return read_write(view);
}

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

// A kernel argument during recording: a buffer with its access, or the bytes of a value. Points to
// objects of the caller.
struct Argument {
  const BufferView* view = nullptr;  // null: a value
  const void* value = nullptr;
  const std::string_view* slot = nullptr;  // name of its scalar slot; null: a constant
  const ValueType* type = nullptr;         // of the value or the elements; null: unknown
  std::uint32_t size = 0;                  // of the value, bytes
  Access access = Access::Read;
  bool is_declared = true;  // false: `access` is a default
  // See AccessedByBlock.
  bool is_by_block = false;
  std::uint32_t block_elements = 0, elements_around = 0;
};
[[nodiscard]] inline Argument make_argument(const AccessedView& a) {
  return {.view = &a.view, .type = a.type, .access = a.access, .is_declared = a.is_declared};
}
[[nodiscard]] inline Argument make_argument(const AccessedRef& a) {
  return {.view = a.view, .type = a.type, .access = a.access};
}
template <class T>
inline constexpr bool is_by_block = false;
template <class A>
inline constexpr bool is_by_block<AccessedByBlock<A>> = true;
template <class A>
[[nodiscard]] Argument make_argument(const AccessedByBlock<A>& a) {
  Argument made = make_argument(a.accessed);
  made.is_by_block = true;
  made.block_elements = a.elements;
  made.elements_around = a.around;
  return made;
}
template <class T>
[[nodiscard]] Argument make_argument(const T& value) {
  static_assert(!std::is_base_of_v<BufferView, T>,
                "say how the kernel uses the buffer: read(x), write(x) or read_write(x)");
  static_assert(
      !std::is_pointer_v<T>,
      "pass buffers, not raw addresses: read(x), write(x) or read_write(x); adopt foreign ones");
  static_assert(std::is_trivially_copyable_v<T>, "kernel values are trivially copyable");
  return {.value = &value, .type = &value_type<T>, .size = static_cast<std::uint32_t>(sizeof(T))};
}

}  // namespace reprise::detail

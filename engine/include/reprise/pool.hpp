// CapturePool: allocates the buffers of one device and tracks who holds them. Held by
// std::shared_ptr, because graphs share ownership of their pool. Threads: all calls are safe from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <reprise/buffer.hpp>

namespace reprise::detail {
class PoolCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// Where the transients of graphs that are compiled with a pool are placed.
enum class SlabSharing : std::uint8_t {
  None,       // each graph has its own slab
  OneAtATime  // all graphs of the pool share one slab, as large as the largest graph needs
};
[[nodiscard]] REPRISE_API std::string_view to_string(SlabSharing sharing) noexcept;

struct PoolDesc {
  std::string_view label = "pool";
  // OneAtATime suits graphs that run one after another anyway: n graphs use the memory of the
  // largest. The engine serialises their launches on any queues. Replica i of a graph
  // (CompileDesc::replicas) shares with replica i of the other graphs.
  SlabSharing sharing = SlabSharing::None;
  // Address space in bytes that a shared slab can grow into in place; uses no memory. Default: the
  // budget, otherwise the device's memory. A graph that needs more gets another shared slab, as do
  // later graphs (MemoryStatistics::shared_slabs), and the message "another-shared-slab" reports
  // it.
  std::optional<std::uint64_t> reserve = {};
  // Maximum device memory in bytes of the pool's buffers and of the transients of its graphs.
  // Before an allocation fails, idle graphs of the pool release their pages. Default: no limit.
  std::optional<std::uint64_t> budget = {};
};

// Device memory of a pool or of a device. Adopted memory is not counted. Sizes are in bytes.
struct MemoryStatistics {
  std::optional<std::uint64_t> budget = {};
  std::uint64_t reserved = 0;      // buffers and slabs, including released pages
  std::uint64_t mapped = 0;        // buffers and slabs with pages: the memory in use
  std::uint64_t peak = 0;          // maximum of `mapped` so far
  std::uint64_t buffer_bytes = 0;  // of Device buffers; part of `mapped`
  std::uint64_t pinned_bytes = 0;  // of PinnedHost buffers; not part of `mapped`
  std::uint64_t slabs = 0;         // number of slabs of transients
  std::uint64_t shared_slabs = 0;  // slabs that several graphs share (SlabSharing)
  std::uint64_t sharers = 0;       // executables with transients in a shared slab
  std::uint64_t trims = 0;         // times that a slab released its pages
  std::uint64_t remaps = 0;        // times that a slab mapped its pages again
};

// The result of trim().
struct TrimReport {
  std::uint64_t bytes = 0;          // released
  std::uint32_t slabs = 0;          // that released pages
  std::uint32_t busy = 0;           // slabs with pending launches, which keep their pages
  std::uint32_t without_pages = 0;  // slabs too small for pages of their own
};

// Allocates one copy of a buffer for each replica of a graph (CompileDesc::replicas). Commands
// name the buffer, which is copy 0; replica i accesses copy i. BufferView::replica(i) is copy i as
// a buffer of its own, to fill and read it.
struct PerReplica {
  std::uint32_t copies = 1;  // 1 to 1024
};

class REPRISE_API CapturePool {
 public:
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;

  // `count` values of T in device memory with undefined contents. Throws InvalidArgument if
  // `count` is 0, OutOfMemory, DeviceLost while the device is lost, StaleHandle after it was shut
  // down, InvalidState in a host callback.
  template <class T>
  [[nodiscard]] GpuRef<T> allocate(std::uint64_t count, std::string_view name = "",
                                   PerReplica replicas = {}) {
    return GpuRef<T>(
        allocate_bytes(BufferKind::Device, count, sizeof(T), alignof(T), name, replicas));
  }
  // `count` values of T in pinned host memory that the device can access; zeroed. Throws as
  // allocate().
  template <class T>
  [[nodiscard]] HostRef<T> host(std::uint64_t count, std::string_view name = "",
                                PerReplica replicas = {}) {
    return HostRef<T>(
        allocate_bytes(BufferKind::PinnedHost, count, sizeof(T), alignof(T), name, replicas));
  }
  // `count` values of T that exist inside one replay, with undefined contents at its start. Uses
  // no memory until a graph that uses it is compiled. Throws as allocate().
  template <class T>
  [[nodiscard]] GpuRef<T> transient(std::uint64_t count, std::string_view name = "") {
    return GpuRef<T>(allocate_bytes(BufferKind::Transient, count, sizeof(T), alignof(T), name));
  }
  // The untyped form. `alignment` in bytes: a power of two up to DeviceLimits::buffer_alignment.
  // Throws InvalidArgument for BufferKind::Condition (see Device::create_condition), and for more
  // than one copy of a transient, which each replica has of its own anyway.
  [[nodiscard]] BufferView allocate_bytes(BufferKind kind, std::uint64_t count,
                                          std::uint64_t element_bytes, std::uint64_t alignment,
                                          std::string_view name, PerReplica replicas = {});

  [[nodiscard]] std::size_t buffer_count() const noexcept;  // buffers that exist
  // Graphs that hold this pool or one of its buffers.
  [[nodiscard]] std::size_t live_graphs() const noexcept;
  [[nodiscard]] std::string_view label() const noexcept;
  [[nodiscard]] MemoryStatistics statistics() const noexcept;

  // Returns the pages of the transients of idle graphs of this pool to the system; of a shared
  // slab, if all its graphs are idle. Buffers keep their pages. Graphs stay valid: the next launch
  // or update of such a graph maps pages at the same addresses first, and throws SlabExhausted or
  // OutOfMemory if that fails. Other launches do not wait. Throws DeviceLost, StaleHandle and
  // InvalidState as allocate().
  TrimReport trim();

  // Makes all buffers of the pool stale. Their memory is freed after the last launch that uses it
  // has completed. Throws PoolInUse, and changes nothing, while a graph or a recording holds one
  // of them. Throws InvalidState in a host callback.
  void clear();

 private:
  friend struct detail::HandleAccess;
  explicit CapturePool(std::shared_ptr<detail::PoolCore> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<detail::PoolCore> core_;  // never null
};

}  // namespace reprise::inline REPRISE_ABI

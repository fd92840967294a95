// CapturePool: allocates buffers of one device and knows who holds them. Always in a shared_ptr;
// graphs hold their pool. Threads: every call may come from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/buffer.hpp>

namespace reprise {

namespace detail {
class PoolCore;
}

// Where transients of graphs that were compiled with a pool lie.
enum class SlabSharing : std::uint8_t {
  None,       // in a slab of the graph's own
  OneAtATime  // all in one slab of the pool, as large as the largest of them needs: such graphs
              // never run at the same time, whatever their queues
};

struct PoolDesc {
  std::string_view label = "pool";
  // OneAtATime is for graphs that follow each other anyway: n of them take what the largest takes.
  // A launch waits for the last launch of any other graph. Instance i of a graph
  // (CompileDesc::instances) shares with the instances i of the others.
  SlabSharing sharing = SlabSharing::None;
  // Addresses that a shared slab may grow into, in place, when a graph needs more than those
  // before; they take no memory. 0: the budget, or else what the device has. Where a graph needs
  // more, or a device has no pages to add, it and those after it have another slab
  // (statistics().shared_slabs).
  std::uint64_t reserve = 0;
  // Bytes of device memory that its buffers, and the transients of graphs compiled with it, may
  // take together; 0: as many as there are. Before anything is refused, idle graphs of the pool
  // give their pages back.
  std::uint64_t budget = 0;
};

// What a pool, or a device, takes of the device's memory; adopted memory is not counted. Bytes.
struct MemoryStatistics {
  std::uint64_t budget = 0;    // 0: none
  std::uint64_t reserved = 0;  // buffers and slabs, with pages or without
  std::uint64_t mapped = 0;    // with pages: what is taken now
  std::uint64_t peak = 0;      // the most that ever was
  std::uint64_t buffers = 0;   // of Device buffers; they always have pages
  std::uint64_t slabs =
      0;  // how many: one for each executable with transients, or for several that share it
  std::uint64_t shared_slabs = 0;  // of them: of a pool whose graphs share (SlabSharing)
  std::uint64_t sharers = 0;       // executables whose transients lie in one of those
  std::uint64_t trims = 0;         // slabs that gave their pages back, so far
  std::uint64_t remaps = 0;        // slabs that took pages again, so far
};

// What trim() did.
struct TrimReport {
  std::uint64_t bytes = 0;          // given back
  std::uint32_t slabs = 0;          // that gave them
  std::uint32_t busy = 0;           // slabs that keep theirs because a launch is not over
  std::uint32_t without_pages = 0;  // slabs too small for pages of their own
};

// A buffer of so many copies, of which each instance of a graph (CompileDesc::instances) uses its
// own: commands name the buffer, which is copy 0, and instance i reads and writes copy i. Each copy
// is a buffer like any other, BufferView::instance(i): that is how to fill and read it.
struct PerReplica {
  std::uint32_t copies = 1;
};

class CapturePool {
 public:
  explicit CapturePool(std::shared_ptr<detail::PoolCore> core) noexcept : core_(std::move(core)) {}
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;

  // Device memory; contents undefined. `count` > 0. Throws OutOfMemory, DeviceLost.
  template <class T>
  [[nodiscard]] GpuRef<T> allocate(std::uint64_t count, std::string_view name = "",
                                   PerReplica replicas = {}) {
    return GpuRef<T>(
        allocate_bytes(BufferKind::Device, count, sizeof(T), alignof(T), name, replicas));
  }
  // Pinned host memory that the device reaches; zeroed.
  template <class T>
  [[nodiscard]] HostRef<T> host(std::uint64_t count, std::string_view name = "",
                                PerReplica replicas = {}) {
    return HostRef<T>(
        allocate_bytes(BufferKind::PinnedHost, count, sizeof(T), alignof(T), name, replicas));
  }
  // Memory inside one replay, placed when a graph is compiled; contents undefined at the start of
  // each replay.
  template <class T>
  [[nodiscard]] GpuRef<T> transient(std::uint64_t count, std::string_view name = "") {
    return GpuRef<T>(allocate_bytes(BufferKind::Transient, count, sizeof(T), alignof(T), name));
  }
  [[nodiscard]] BufferView allocate_bytes(BufferKind kind, std::uint64_t count,
                                          std::uint64_t element_bytes, std::uint64_t alignment,
                                          std::string_view name, PerReplica replicas = {});

  [[nodiscard]] std::size_t buffer_count() const noexcept;    // buffers alive
  [[nodiscard]] std::uint64_t device_bytes() const noexcept;  // of Device buffers alive
  [[nodiscard]] std::uint64_t host_bytes() const noexcept;    // of PinnedHost buffers alive
  [[nodiscard]] std::size_t live_graphs()
      const noexcept;  // graphs that hold this pool or a buffer of it
  [[nodiscard]] std::string_view label() const noexcept;
  [[nodiscard]] MemoryStatistics statistics() const noexcept;

  // The pages behind the transients of every graph that was compiled with this pool and has nothing
  // to do go back to the system; of a shared slab, when none of its graphs has anything to do.
  // Buffers keep theirs. Graphs stay valid: the next launch, or update, of such a graph takes pages
  // for the same addresses first, and throws SlabExhausted or OutOfMemory where there are none.
  // Other launches do not wait for it. Throws DeviceLost.
  TrimReport trim();

  // Makes every handle stale and gives the memory back when the last launch that uses it has
  // completed. Throws PoolInUse while a live graph or a recording holds a buffer of it; then
  // nothing has changed.
  void clear();

  [[nodiscard]] const std::shared_ptr<detail::PoolCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::PoolCore> core_;
};

}  // namespace reprise

// CapturePool: allocates buffers of one device and knows who holds them. Always in a shared_ptr; graphs hold their pool.
// Threads: every call may come from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/buffer.hpp>

namespace reprise {

namespace detail {
class PoolCore;
}

struct PoolDesc {
  std::string_view label = "pool";
};

// A buffer of so many copies, of which each instance of a graph (CompileDesc::instances) uses its own: commands name the buffer, which is
// copy 0, and instance i reads and writes copy i. Each copy is a buffer like any other, BufferView::instance(i): that is how to fill and read it.
struct PerInstance {
  std::uint32_t copies = 1;
};

class CapturePool {
 public:
  explicit CapturePool(std::shared_ptr<detail::PoolCore> core) noexcept : core_(std::move(core)) {}
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;

  // Device memory; contents undefined. `count` > 0. Throws OutOfMemory, DeviceLost.
  template <class T>
  [[nodiscard]] GpuRef<T> allocate(std::uint64_t count, std::string_view name = "", PerInstance instances = {}) {
    return GpuRef<T>(allocate_bytes(BufferKind::Device, count, sizeof(T), alignof(T), name, instances));
  }
  // Pinned host memory that the device reaches; zeroed.
  template <class T>
  [[nodiscard]] HostRef<T> host(std::uint64_t count, std::string_view name = "", PerInstance instances = {}) {
    return HostRef<T>(allocate_bytes(BufferKind::PinnedHost, count, sizeof(T), alignof(T), name, instances));
  }
  // Memory inside one replay, placed when a graph is compiled; contents undefined at the start of each replay.
  template <class T>
  [[nodiscard]] GpuRef<T> transient(std::uint64_t count, std::string_view name = "") {
    return GpuRef<T>(allocate_bytes(BufferKind::Transient, count, sizeof(T), alignof(T), name));
  }
  [[nodiscard]] BufferView allocate_bytes(BufferKind kind, std::uint64_t count, std::uint64_t element_bytes, std::uint64_t alignment,
                                          std::string_view name, PerInstance instances = {});

  [[nodiscard]] std::size_t buffer_count() const noexcept;    // buffers alive
  [[nodiscard]] std::uint64_t device_bytes() const noexcept;  // of Device buffers alive
  [[nodiscard]] std::uint64_t host_bytes() const noexcept;    // of PinnedHost buffers alive
  [[nodiscard]] std::size_t live_graphs() const noexcept;     // graphs that hold this pool or a buffer of it
  [[nodiscard]] std::string_view label() const noexcept;

  // Makes every handle stale and gives the memory back when the last launch that uses it has completed.
  // Throws PoolInUse while a live graph or a recording holds a buffer of it; then nothing has changed.
  void clear();

  [[nodiscard]] const std::shared_ptr<detail::PoolCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::PoolCore> core_;
};

}  // namespace reprise

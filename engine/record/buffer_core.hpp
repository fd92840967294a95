// BufferCore and DeviceStatus: the backend-independent state of a buffer and of its device. Knows
// no backend; runtime/ allocates and frees the memory. Threads: plain members are constant after
// construction; atomics may be read from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/device_info.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {

// One per device, shared by all objects created from it.
struct DeviceStatus {
  std::string selector;  // "cuda:0"
  DeviceKind kind = DeviceKind::Host;
  std::atomic<std::uint32_t> generation{1};  // advances when the device is lost
  std::atomic<bool> lost{false};
  std::atomic<bool> shut_down{false};  // permanent; see Device::shut_down

  // Marks the device lost. The first call advances the generation, which makes every existing
  // handle stale.
  void mark_lost() noexcept {
    if (!lost.exchange(true)) generation.fetch_add(1);
  }
};

// The CUDA device ordinal in the selector; 0 for the host device.
[[nodiscard]] std::uint32_t ordinal_of(const DeviceStatus& device) noexcept;

// A name of `device` in a message that also names `other`: "cuda:1", or "another Device of host
// ...": each Instance::open_device() creates a Device.
[[nodiscard]] std::string name_beside(const DeviceStatus& device, const DeviceStatus& other);

struct BufferCore {
  BufferCore() = default;
  BufferCore(const BufferCore&) = delete;
  BufferCore& operator=(const BufferCore&) = delete;
  virtual ~BufferCore() = default;

  BufferId id;
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
  std::string name;
  std::shared_ptr<DeviceStatus> device;
  std::uint32_t generation = 1;  // the device's generation when the buffer was created
  std::byte* address = nullptr;  // null for a transient
  bool is_adopted = false;       // memory of the application
  // For replicas 1, 2, ... of a graph; empty: all replicas share this buffer.
  std::vector<std::shared_ptr<BufferCore>> copies;
  std::atomic<bool> cleared{false};  // its pool was cleared
  // Number of active recorders and frozen recordings that reference the buffer. While it is not 0,
  // clearing the pool fails.
  std::atomic<std::uint32_t> recorded{0};

  [[nodiscard]] bool is_stale() const noexcept {
    if (device->shut_down.load(std::memory_order_acquire)) return true;
    if (generation == device->generation.load(std::memory_order_acquire) &&
        !cleared.load(std::memory_order_acquire)) [[likely]]
      return false;
    // A condition and borrowed memory have no memory on the device that could be lost.
    return kind != BufferKind::Condition && kind != BufferKind::BorrowedHost;
  }
};

// The buffer that replica `replica` of a graph uses for `buffer`.
[[nodiscard]] inline const std::shared_ptr<BufferCore>& copy_for(
    const std::shared_ptr<BufferCore>& buffer, std::uint32_t replica) noexcept {
  return replica == 0 || buffer->copies.size() < replica ? buffer : buffer->copies[replica - 1];
}

// Why a stale buffer is stale, for messages: "its pool was cleared".
[[nodiscard]] std::string_view why_stale(const BufferCore& buffer) noexcept;

// The buffer's name, or "buffer #7" if it has none; for messages, plans and DOT.
[[nodiscard]] std::string display_name(const BufferCore& buffer);

}  // namespace reprise::detail

// What every layer may know of a buffer and of the device it is on. Knows no backend: memory comes
// and goes in run/. Threads: the plain members are constant after construction; the atomics may be
// read from any thread.
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

// One a device, shared by everything that was made from it.
struct DeviceStatus {
  std::string selector;  // "cuda:0"
  DeviceKind kind = DeviceKind::Host;
  std::atomic<std::uint32_t> generation{1};  // advances when the device is lost
  std::atomic<bool> lost{false};
  std::atomic<bool> shut_down{false};  // for good; see Device::shut_down

  // Marks the device lost, once: the generation advances and every handle of before is stale.
  void lose() noexcept {
    if (!lost.exchange(true)) generation.fetch_add(1);
  }
};

// CUDA's number of the device, as its selector has it; 0 for the host device.
[[nodiscard]] std::uint32_t ordinal_of(const DeviceStatus& device) noexcept;

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
  std::uint32_t generation = 1;  // the device's, when the buffer was made
  std::byte* address = nullptr;  // null for a transient
  std::vector<std::shared_ptr<BufferCore>>
      copies;  // that a graph's instances 1, 2... use in its place; none: they use this one
  std::atomic<bool> cleared{false};  // its pool was cleared
  // Command buffers being recorded and frozen recordings that hold it. A pool with such a buffer
  // refuses to be cleared.
  std::atomic<std::uint32_t> recorded{0};

  [[nodiscard]] bool is_stale() const noexcept {
    if (kind == BufferKind::Condition)
      return device->shut_down.load(
          std::memory_order_acquire);  // it has no memory that could be gone
    return cleared.load(std::memory_order_acquire) ||
           generation != device->generation.load(std::memory_order_acquire) ||
           device->shut_down.load(std::memory_order_acquire);
  }
};

// What instance `instance` of a graph uses where a command names `buffer`.
[[nodiscard]] inline const std::shared_ptr<BufferCore>& copy_for(
    const std::shared_ptr<BufferCore>& buffer, std::uint32_t instance) noexcept {
  return instance == 0 || buffer->copies.size() < instance ? buffer : buffer->copies[instance - 1];
}

// Of a stale buffer: "its pool was cleared", for messages.
[[nodiscard]] std::string_view why_stale(const BufferCore& buffer) noexcept;

// The buffer's name, or "buffer #7" for one without; for messages, plans and DOT.
[[nodiscard]] std::string display_name(const BufferCore& buffer);

}  // namespace reprise::detail

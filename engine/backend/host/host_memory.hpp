// HostMemory: the host device's memory: aligned blocks, limited by the machine's memory. Threads:
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace reprise::detail {

class HostMemory {
 public:
  static constexpr std::uint64_t kAlignment = 256;

  explicit HostMemory(std::uint64_t limit) noexcept : limit_(limit) {}

  // Contents are undefined. Throws OutOfMemory naming the bytes.
  [[nodiscard]] std::byte* allocate(std::uint64_t bytes);
  void free(std::byte* address) noexcept;
  // Account for memory that the caller obtains from the system. The first throws OutOfMemory if
  // fewer bytes are available.
  void charge(std::uint64_t bytes);
  void discharge(std::uint64_t bytes) noexcept;

  // Physical memory in bytes; 0: unknown.
  [[nodiscard]] static std::uint64_t physical_memory() noexcept;

 private:
  const std::uint64_t limit_;
  std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::unordered_map<std::byte*, std::uint64_t> blocks_;  // bytes of each
};

}  // namespace reprise::detail

// MemoryPlace: where the bytes of a recorded buffer are, if buffers of one recording share bytes:
// memory that was adopted twice, or borrowed host memory. Such buffers are one buffer to the order
// of commands. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/buffer_core.hpp"

namespace reprise::detail {

// Byte i of the buffer is byte `offset` + i of `memory`. Buffers of different memories share no
// byte.
struct MemoryPlace {
  std::uint32_t memory = 0;  // the index of the first buffer there; its offset is 0
  std::uint64_t offset = 0;  // bytes
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};

// The place of each buffer by its index; empty if no two buffers share bytes. Depends on the
// differences of overlapping addresses alone. O(n log n) with adopted or borrowed memory.
[[nodiscard]] std::vector<MemoryPlace> find_memory_places(
    std::span<const std::shared_ptr<BufferCore>> buffers);

// True if the memory of `buffer` and [address, address + bytes) share a byte.
[[nodiscard]] bool overlaps(const BufferCore& buffer, const std::byte* address,
                            std::uint64_t bytes) noexcept;

}  // namespace reprise::detail

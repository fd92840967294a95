// Copies and fills of pitched rows of bytes. Threads: pure functions of their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <reprise/command_buffer.hpp>

namespace reprise::detail {

struct RowsAt {
  std::byte* address = nullptr;
  Pitch pitch;  // never 0
};

// Source and destination must not overlap.
void copy_rows(const RowsAt& source, const RowsAt& destination, const Extent& extent) noexcept;
// Sets every element of `element_bytes` (1, 2 or 4) to the low bytes of `bits`; extent.width is a
// multiple of `element_bytes`.
void fill_rows(const RowsAt& destination, const Extent& extent, std::uint32_t bits,
               std::uint32_t element_bytes) noexcept;

}  // namespace reprise::detail

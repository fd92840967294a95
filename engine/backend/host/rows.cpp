#include "backend/host/rows.hpp"

#include <cstring>

#include "record/geometry.hpp"

namespace reprise::detail {

namespace {

void fill_bytes(std::byte* to, std::uint64_t bytes, std::uint32_t bits,
                std::uint32_t element_bytes) noexcept {
  if (element_bytes == 1) {
    std::memset(to, static_cast<int>(bits & 0xff), bytes);
    return;
  }
  // The range may be unaligned, so elements are copied, a cache line at a time.
  alignas(64) std::byte line[64];
  for (std::size_t i = 0; i < sizeof(line); i += element_bytes)
    std::memcpy(line + i, &bits, element_bytes);
  for (; bytes >= sizeof(line); to += sizeof(line), bytes -= sizeof(line))
    std::memcpy(to, line, sizeof(line));
  std::memcpy(to, line, bytes);
}

}  // namespace

void copy_rows(const RowsAt& source, const RowsAt& destination, const Extent& extent) noexcept {
  if (is_dense(extent, source.pitch) && is_dense(extent, destination.pitch)) {
    std::memcpy(destination.address, source.address, extent.width * extent.height * extent.depth);
    return;
  }
  for (std::uint64_t slice = 0; slice < extent.depth; ++slice) {
    const std::byte* from = source.address + slice * source.pitch.slice;
    std::byte* to = destination.address + slice * destination.pitch.slice;
    for (std::uint64_t row = 0; row < extent.height;
         ++row, from += source.pitch.row, to += destination.pitch.row) {
      std::memcpy(to, from, extent.width);
    }
  }
}

void fill_rows(const RowsAt& destination, const Extent& extent, std::uint32_t bits,
               std::uint32_t element_bytes) noexcept {
  if (is_dense(extent, destination.pitch)) {
    fill_bytes(destination.address, extent.width * extent.height * extent.depth, bits,
               element_bytes);
    return;
  }
  for (std::uint64_t slice = 0; slice < extent.depth; ++slice) {
    std::byte* to = destination.address + slice * destination.pitch.slice;
    for (std::uint64_t row = 0; row < extent.height; ++row, to += destination.pitch.row) {
      fill_bytes(to, extent.width, bits, element_bytes);
    }
  }
}

}  // namespace reprise::detail

// geometry: rows of bytes in a buffer: normal forms of extents and pitches, the span they cover,
// and whether two sets of rows share a byte. Pure functions of numbers. Knows no buffer, no device.
#pragma once

#include <cstdint>
#include <optional>

#include "record/command.hpp"

namespace reprise::detail {

// Rows of `extent.width` bytes that start at `begin`. In normal form: no extent is 0; row >= width;
// slice is a multiple of row and >= row * height; no pitch is 0.
struct Rows {
  std::uint64_t begin = 0;
  Extent extent;
  Pitch pitch;
};

enum class PitchFault : std::uint8_t {
  None,
  RowBelowWidth,
  SliceBelowRows,
  SliceNoMultipleOfRow,
  TooLarge
};

// Fills in tight pitches, and gives pitches that no row uses the value that a tight one would have.
// Extents are not 0.
[[nodiscard]] PitchFault normalise(const Extent& extent, Pitch& pitch);

// Bytes from the first to one past the last; nullopt where 64 bits do not hold it.
[[nodiscard]] std::optional<std::uint64_t> span_bytes(const Extent& extent, const Pitch& pitch);

// The rows leave no gap, so they are one range of bytes.
[[nodiscard]] bool is_dense(const Extent& extent, const Pitch& pitch);

[[nodiscard]] bool intersects(const Rows& rows, std::uint64_t begin, std::uint64_t end);
// Exact, in constant time for most shapes; `a` and `b` have equal pitches.
[[nodiscard]] bool intersects_of_equal_pitch(const Rows& a, const Rows& b);
// Exact for all shapes; with unequal pitches it visits every row of the side that has fewer.
[[nodiscard]] bool intersects(const Rows& a, const Rows& b);

[[nodiscard]] bool equal_pitches(const Rows& a, const Rows& b);

}  // namespace reprise::detail

// geometry: rows of bytes in a buffer: normal forms of extents and pitches, spans, and intersection
// tests. Knows no buffer and no device. Threads: pure functions.
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

// Replaces zero pitches by tight ones, and sets pitches that no row uses to their tight value. No
// dimension of `extent` may be 0.
[[nodiscard]] PitchFault normalise(const Extent& extent, Pitch& pitch);

// Size of the range from the first to the last byte; nullopt if it exceeds 64 bits.
[[nodiscard]] std::optional<std::uint64_t> span_bytes(const Extent& extent, const Pitch& pitch);

// True if the rows form one contiguous range.
[[nodiscard]] bool is_dense(const Extent& extent, const Pitch& pitch);

[[nodiscard]] bool intersects(const Rows& rows, std::uint64_t begin, std::uint64_t end);
// Exact; constant time for most shapes. `a` and `b` must have equal pitches.
[[nodiscard]] bool intersects_of_equal_pitch(const Rows& a, const Rows& b);
// Exact for all shapes. With unequal pitches, O(rows of the side with fewer rows).
[[nodiscard]] bool intersects(const Rows& a, const Rows& b);

[[nodiscard]] bool equal_pitches(const Rows& a, const Rows& b);

}  // namespace reprise::detail

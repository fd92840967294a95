#include "record/geometry.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Holds every sum and product of two 64-bit numbers in this file.
__extension__ typedef __int128 Wide;

constexpr Wide kMax = static_cast<Wide>(~std::uint64_t{0});

Wide wide(std::uint64_t v) { return static_cast<Wide>(v); }

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && a < 0) ? q - 1 : q;
}

Wide slice_span(const Extent& e, const Pitch& p) {
  return wide(e.height - 1) * wide(p.row) + wide(e.width);
}

// The smallest i >= 0 with i * pitch + span > at.
Wide first_reaching(Wide at, Wide span, Wide pitch) {
  return at < span ? 0 : (at - span) / pitch + 1;
}

}  // namespace

PitchFault normalise(const Extent& extent, Pitch& pitch) {
  const bool rows_matter = extent.height > 1;
  const bool slices_matter = extent.depth > 1;
  if (pitch.row == 0) pitch.row = extent.width;
  if (pitch.row < extent.width) return PitchFault::RowBelowWidth;
  if (!rows_matter && slices_matter && pitch.slice != 0) pitch.row = pitch.slice;
  if (!rows_matter && !slices_matter) pitch.row = extent.width;
  const Wide tight = wide(pitch.row) * wide(extent.height);
  if (tight > kMax) return PitchFault::TooLarge;
  if (!slices_matter || pitch.slice == 0) pitch.slice = static_cast<std::uint64_t>(tight);
  if (pitch.row < extent.width || wide(pitch.slice) < tight) return PitchFault::SliceBelowRows;
  if (pitch.slice % pitch.row != 0) return PitchFault::SliceNoMultipleOfRow;
  return PitchFault::None;
}

std::optional<std::uint64_t> span_bytes(const Extent& extent, const Pitch& pitch) {
  const Wide last_slice = wide(extent.depth - 1) * wide(pitch.slice);
  const Wide in_slice = slice_span(extent, pitch);
  if (last_slice > kMax || in_slice > kMax || last_slice + in_slice > kMax) return std::nullopt;
  return static_cast<std::uint64_t>(last_slice + in_slice);
}

bool is_dense(const Extent& extent, const Pitch& pitch) {
  return (extent.height == 1 || pitch.row == extent.width) &&
         (extent.depth == 1 || wide(pitch.slice) == wide(extent.width) * wide(extent.height));
}

bool intersects(const Rows& rows, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return false;
  const Wide low = wide(begin) - wide(rows.begin);
  const Wide high = wide(end) - wide(rows.begin);
  if (high <= 0) return false;
  const Wide slice = wide(rows.pitch.slice);
  const Wide z = first_reaching(low, slice_span(rows.extent, rows.pitch), slice);
  if (z >= wide(rows.extent.depth) || z * slice >= high) return false;
  // The next slice starts inside the range, so its first byte is shared.
  if (z + 1 < wide(rows.extent.depth) && (z + 1) * slice < high) return true;
  const Wide y = first_reaching(low - z * slice, wide(rows.extent.width), wide(rows.pitch.row));
  return y < wide(rows.extent.height) && z * slice + y * wide(rows.pitch.row) < high;
}

bool equal_pitches(const Rows& a, const Rows& b) {
  const bool slices_matter = a.extent.depth > 1 || b.extent.depth > 1;
  return a.pitch.row == b.pitch.row && (!slices_matter || a.pitch.slice == b.pitch.slice);
}

bool intersects_of_equal_pitch(const Rows& a, const Rows& b) {
  // Rows that are u slices and v rows apart share a byte if low < u * slice + v * row < high.
  const Wide low = wide(b.begin) - wide(a.begin) - wide(a.extent.width);
  const Wide high = wide(b.begin) - wide(a.begin) + wide(b.extent.width);
  const Wide row = wide(a.pitch.row);
  const Wide slice = wide(a.extent.depth > 1 ? a.pitch.slice : b.pitch.slice);
  const Wide v_min = -wide(b.extent.height - 1);
  const Wide v_max = wide(a.extent.height - 1);
  const Wide u_first = std::max(-wide(b.extent.depth - 1), floor_div(low - v_max * row, slice));
  const Wide u_last = std::min(wide(a.extent.depth - 1), floor_div(high - v_min * row, slice));
  for (Wide u = u_first; u <= u_last; ++u) {
    const Wide v = std::max(v_min, floor_div(low - u * slice, row) + 1);
    if (v <= v_max && u * slice + v * row < high) return true;
  }
  return false;
}

bool intersects(const Rows& a, const Rows& b) {
  if (equal_pitches(a, b)) return intersects_of_equal_pitch(a, b);
  const bool a_is_fewer =
      wide(a.extent.height) * wide(a.extent.depth) <= wide(b.extent.height) * wide(b.extent.depth);
  const Rows& few = a_is_fewer ? a : b;
  const Rows& many = a_is_fewer ? b : a;
  for (std::uint64_t z = 0; z < few.extent.depth; ++z) {
    for (std::uint64_t y = 0; y < few.extent.height; ++y) {
      const std::uint64_t begin = few.begin + z * few.pitch.slice + y * few.pitch.row;
      if (intersects(many, begin, begin + few.extent.width)) return true;
    }
  }
  return false;
}

}  // namespace reprise::detail

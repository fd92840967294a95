// The items of each rank from left to right, and the positions of the segments between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layered_graph.hpp"

namespace reprise::viewer {

// Segments keep their relative order in all ranks that they share. A segment occupies a position of
// its own.
struct RankOrder {
  std::vector<std::uint32_t> first, items;  // items of rank r: items[first[r], first[r + 1])
  std::vector<std::uint32_t> place;         // per item: index in its rank, without segments
  // per item: segments to its left in its rank; non-decreasing along a rank
  std::vector<std::uint32_t> gap;
  [[nodiscard]] std::span<const std::uint32_t> rank(std::uint32_t r) const noexcept {
    return {items.data() + first[r], items.data() + first[r + 1]};
  }
  [[nodiscard]] std::span<std::uint32_t> rank(std::uint32_t r) noexcept {
    return {items.data() + first[r], items.data() + first[r + 1]};
  }
  // The index in the rank, including segments.
  [[nodiscard]] std::uint32_t position(std::uint32_t item) const noexcept {
    return place[item] + gap[item];
  }
};

// Straight lines between two adjacent ranks (segments, and links from heads into segments and from
// segments to tails) never cross each other. A link crosses as many of them as the counts at its
// two ends differ.
struct Straights {
  // per item: straight lines to its left, towards the rank above and below
  std::vector<std::uint32_t> above, below;
};
[[nodiscard]] Straights straights_of(const LayeredGraph& graph, const RankOrder& order);

// The position in rank r of the segment with `place` segments of that rank to its left.
[[nodiscard]] std::uint32_t segment_position(const RankOrder& order, std::uint32_t r,
                                             std::uint32_t place);

}  // namespace reprise::viewer

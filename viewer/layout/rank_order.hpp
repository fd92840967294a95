// The items of each rank from left to right, and where segments pass between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layered_graph.hpp"

namespace reprise::viewer {

// Segments that pass the same rank keep one order in all ranks that they share. A segment counts as
// a place of its own.
struct RankOrder {
  std::vector<std::uint32_t> first, items;  // items of rank r: items[first[r], first[r + 1])
  std::vector<std::uint32_t> place;         // an item each: index in its rank, segments not counted
  std::vector<std::uint32_t>
      gap;  // an item each: segments of its rank on its left; never falls along a rank
  [[nodiscard]] std::span<const std::uint32_t> rank(std::uint32_t r) const noexcept {
    return {items.data() + first[r], items.data() + first[r + 1]};
  }
  [[nodiscard]] std::span<std::uint32_t> rank(std::uint32_t r) noexcept {
    return {items.data() + first[r], items.data() + first[r + 1]};
  }
  // With the segments counted.
  [[nodiscard]] std::uint32_t position(std::uint32_t item) const noexcept {
    return place[item] + gap[item];
  }
};

// What goes straight between two neighbouring ranks (segments, with what leads from heads into them
// and from them to tails) never crosses its like, so a link crosses as many as the counts at its
// two ends differ by.
struct Straights {
  std::vector<std::uint32_t> above,
      below;  // an item each: how many of them are on its left, towards the rank above and below
};
[[nodiscard]] Straights straights_of(const LayeredGraph& graph, const RankOrder& order);

// Position in rank r of the segment that has `place` segments of that rank on its left.
[[nodiscard]] std::uint32_t segment_position(const RankOrder& order, std::uint32_t r,
                                             std::uint32_t place);

}  // namespace reprise::viewer

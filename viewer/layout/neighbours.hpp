// What stands beside what: pairs that keep a distance across, and the links that must not be drawn
// straight because they cross something that is. Elements are the items, then the segments. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

struct Distance {
  std::uint32_t left = 0, right = 0;  // elements
  double least = 0;                   // between their centres
};

// As many as items and segments, up to a factor: enough that whatever stands left of something else
// keeps its distance. `across`: of each node, along the rank.
[[nodiscard]] std::vector<Distance> distances_of(const LayeredGraph& graph, const RankOrder& order,
                                                 const std::vector<float>& across,
                                                 const LayoutOptions& options);

// A link each, 1: it crosses a segment, or a stretch of a long edge without being one.
[[nodiscard]] std::vector<std::uint8_t> bent_links(const LayeredGraph& graph,
                                                   const RankOrder& order);

}  // namespace reprise::viewer

// Adjacency within ranks: pairs of elements that keep a distance across, and links that must bend
// because they cross something straight. Elements are the items, then the segments. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

struct Distance {
  std::uint32_t left = 0, right = 0;  // elements
  double min = 0;                     // minimum distance between the centres
};

// O(items + segments) constraints, which transitively separate everything that is left of something
// else. `across`: the size of each node along its rank.
[[nodiscard]] std::vector<Distance> distances_of(const LayeredGraph& graph, const RankOrder& order,
                                                 const std::vector<float>& across,
                                                 const LayoutOptions& options);

// Per link, 1 if it crosses a segment, or crosses a piece of a long edge without being one itself.
[[nodiscard]] std::vector<std::uint8_t> bent_links(const LayeredGraph& graph,
                                                   const RankOrder& order);

}  // namespace reprise::viewer

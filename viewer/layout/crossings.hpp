// Counts the pairs of edges that cross, for a given order of the ranks. A pure function; O(n log
// n).
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

[[nodiscard]] std::uint64_t count_crossings(const LayeredGraph& graph, const RankOrder& order);

}  // namespace reprise::viewer

// How many pairs of edges cross in an order of the ranks. A pure function; no more than a logarithm
// more than linear.
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

[[nodiscard]] std::uint64_t count_crossings(const LayeredGraph& graph, const RankOrder& order);

}  // namespace reprise::viewer

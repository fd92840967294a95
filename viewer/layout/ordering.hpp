// Orders the ranks: sweeps from both ends with exchanges in between, and keeps the order with the
// fewest crossings. A pure, deterministic function: the effort depends on the size of the graph,
// never on a clock.
#pragma once

#include <vector>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

// `lanes`: one per node, or empty.
[[nodiscard]] RankOrder order_ranks(const LayeredGraph& graph,
                                    const std::vector<std::uint32_t>& lanes);

}  // namespace reprise::viewer

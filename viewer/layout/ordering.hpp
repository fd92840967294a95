// The order of the ranks: sweeps from both ends with exchanges in between; the order with the
// fewest crossings is kept. A pure function, deterministic: how much is tried depends on the
// graph's size and never on a clock.
#pragma once

#include <vector>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

// `lanes`: a node each, or empty.
[[nodiscard]] RankOrder order_ranks(const LayeredGraph& graph,
                                    const std::vector<std::uint32_t>& lanes);

}  // namespace reprise::viewer

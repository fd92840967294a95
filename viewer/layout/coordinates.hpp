// Places across the ranks, after Brandes and Koepf: four alignments of items with their median
// neighbours, each as narrow as it can be; an item takes the mean of the two places in the middle.
// Segments are straight. Where that comes out options.most_spread times as wide as the widest rank
// and nothing passes in segments, items are balanced instead (balance.hpp). A pure function; linear
// but for sorting neighbours.
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

// The centre of each item, across. `across`: the size of each node along its rank.
[[nodiscard]] std::vector<double> place_across(const LayeredGraph& graph, const RankOrder& order,
                                               const std::vector<float>& across,
                                               const LayoutOptions& options);

}  // namespace reprise::viewer

// Coordinates across the ranks, after Brandes and Koepf: computes four alignments of items with
// their median neighbours, each as narrow as possible; an item gets the mean of its two middle
// coordinates. Segments are straight. If the result exceeds options.max_spread times the minimal
// width and no segments pass, balance_across() computes the coordinates instead. A pure function;
// linear, except for sorting neighbours.
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

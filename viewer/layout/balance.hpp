// Places across the ranks by least squares: rank after rank, items stand as near to the mean of
// their neighbours as their order and distances let them. As narrow as a rank can be, at the price
// of edges that are less straight: for graphs in which alignments push each other far apart. For
// graphs without segments. Pure functions, linear in links.
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

// Of the widest rank when nothing stands farther from its neighbour than it has to. `across`: a
// node each.
[[nodiscard]] double least_width(const LayeredGraph& graph, const RankOrder& order,
                                 const std::vector<float>& across, const LayoutOptions& options);

// The centre of each item. Throws std::invalid_argument where the graph has segments.
[[nodiscard]] std::vector<double> balance_across(const LayeredGraph& graph, const RankOrder& order,
                                                 const std::vector<float>& across,
                                                 const LayoutOptions& options);

}  // namespace reprise::viewer

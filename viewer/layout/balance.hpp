// Coordinates across the ranks by least squares: rank after rank, each item is placed as close to
// the mean of its neighbours as order and distances allow. Produces minimal rank widths at the
// price of less straight edges; meant for graphs in which alignment blocks push each other far
// apart. Requires a graph without segments. Pure functions, linear in links.
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

// The width of the widest rank with minimal distances. `across`: one size per node.
[[nodiscard]] double min_width(const LayeredGraph& graph, const RankOrder& order,
                               const std::vector<float>& across, const LayoutOptions& options);

// The centre of each item. Throws std::invalid_argument if the graph has segments.
[[nodiscard]] std::vector<double> balance_across(const LayeredGraph& graph, const RankOrder& order,
                                                 const std::vector<float>& across,
                                                 const LayoutOptions& options);

}  // namespace reprise::viewer

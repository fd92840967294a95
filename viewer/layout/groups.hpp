// The rectangle of each group: its nodes and its inner groups, with padding. A pure function.
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

// A group each; all zero where neither it nor a group in it has a node. `centres`: a node each.
[[nodiscard]] std::vector<Rect> group_rectangles(const LayoutGraph& graph,
                                                 const std::vector<Point>& centres, float padding);

}  // namespace reprise::viewer

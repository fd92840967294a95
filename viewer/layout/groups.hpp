// The bounding rectangle of each group: its nodes and inner groups, plus padding. A pure function.
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

// One per group; all zero for a group without nodes. `centres`: one per node.
[[nodiscard]] std::vector<Rect> group_rectangles(const LayoutGraph& graph,
                                                 const std::vector<Point>& centres, float padding);

}  // namespace reprise::viewer

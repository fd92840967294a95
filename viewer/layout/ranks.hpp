// Assigns ranks: the longest path from a source; then nodes move towards the side with more edges,
// which shortens long edges. A pure function; linear in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

// Ranks start at 0; every edge leads to a larger rank.
[[nodiscard]] std::vector<std::uint32_t> assign_ranks(const LayoutGraph& graph);

}  // namespace reprise::viewer

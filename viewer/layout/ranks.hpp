// The rank of each node: its longest way from a source, then nodes slide towards those they have
// more edges with, so that long edges get shorter. A pure function; linear in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

// From 0; every edge leads to a greater rank.
[[nodiscard]] std::vector<std::uint32_t> assign_ranks(const LayoutGraph& graph);

}  // namespace reprise::viewer

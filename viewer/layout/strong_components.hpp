// Sets of nodes that reach each other. A pure function; linear in edges, without recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

// The number of its set for each node. `edges`: in any direction, sorted by `from`.
[[nodiscard]] std::vector<std::uint32_t> strong_components(std::uint32_t nodes,
                                                           const std::vector<LayoutEdge>& edges);

}  // namespace reprise::viewer

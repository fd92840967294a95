// Strongly connected components. A pure function; linear in edges, without recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

// The component of each node. `edges` may point in any direction and are sorted by `from`.
[[nodiscard]] std::vector<std::uint32_t> strong_components(std::uint32_t nodes,
                                                           const std::vector<LayoutEdge>& edges);

}  // namespace reprise::viewer

// The connected components of a graph, each as a separate graph. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct Component {
  LayoutGraph graph;  // keeps the group numbers of the whole graph, but not its parents
  std::vector<std::uint32_t> nodes;  // node i of `graph` is nodes[i] of the whole graph; ascending
  std::vector<std::uint32_t> edges;  // likewise
};

// Ordered by smallest node.
[[nodiscard]] std::vector<Component> components_of(const LayoutGraph& graph);

}  // namespace reprise::viewer

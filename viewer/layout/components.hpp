// The parts of a graph that no edge joins, each as a graph of its own. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct Component {
  LayoutGraph graph;  // its groups are numbered as the whole graph's, whose parents it lacks
  std::vector<std::uint32_t> nodes;  // of the whole graph, ascending: node i of `graph` is nodes[i]
  std::vector<std::uint32_t> edges;  // likewise
};

// By their smallest node.
[[nodiscard]] std::vector<Component> components_of(const LayoutGraph& graph);

}  // namespace reprise::viewer

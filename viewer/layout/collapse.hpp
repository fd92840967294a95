// Collapses chosen groups of a graph into single nodes. A pure function; near-linear in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct CollapseDesc {
  std::vector<bool> collapsed;    // per group; inner groups of a collapsed group disappear
  std::vector<Size> group_sizes;  // per group: the size of its node
};

// If a group and other groups depend on each other, the group becomes several nodes, so that the
// result stays acyclic.
struct CollapsedGraph {
  // groups keep their numbers; a collapsed node belongs to the parent of its group
  LayoutGraph graph;
  std::vector<std::uint32_t> node_of;       // per original node: its node in `graph`
  std::vector<std::uint32_t> group_of;      // per node: the group that it collapses, or kNoGroup
  std::vector<std::uint32_t> member_count;  // per node: number of original nodes
  // per edge: number of original edges; edges within a node are dropped
  std::vector<std::uint32_t> edge_multiplicity;
};

// Throws std::invalid_argument as check_layout_graph() does, or if the description does not match
// the groups.
[[nodiscard]] CollapsedGraph collapse(const LayoutGraph& graph, const CollapseDesc& desc);

}  // namespace reprise::viewer

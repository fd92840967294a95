// A smaller graph in which chosen groups are single nodes. A pure function; near-linear in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout_graph.hpp"

namespace reprise::viewer {

struct CollapseDesc {
  std::vector<bool> collapsed;    // a group each; groups inside a collapsed one vanish with it
  std::vector<Size> group_sizes;  // a group each: the size of its node
};

// A group that waits for others which wait for it can't be one node: it becomes several, a node a
// turn.
struct CollapsedGraph {
  LayoutGraph
      graph;  // the groups keep their numbers; a node stands in the parent of what it collapsed
  std::vector<std::uint32_t> node_of;       // a node of the original each: where it went
  std::vector<std::uint32_t> group_of;      // a node each: the group that it collapses, or kNoGroup
  std::vector<std::uint32_t> member_count;  // a node each: nodes of the original
  std::vector<std::uint32_t>
      edge_multiplicity;  // an edge each: edges of the original; those inside a node are not drawn
};

// Throws std::invalid_argument where check_layout_graph does, or where the description does not fit
// the groups.
[[nodiscard]] CollapsedGraph collapse(const LayoutGraph& graph, const CollapseDesc& desc);

}  // namespace reprise::viewer

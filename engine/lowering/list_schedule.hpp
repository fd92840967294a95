// The list schedule: which lane each schedule node runs in, and in which order the nodes are made.
// Critical path first: the node with the longest way to a leaf, all nodes costing the same. A pure
// function; knows no device and no edges but needed ones.
#pragma once

#include <cstdint>
#include <vector>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

struct LaneAssignment {
  std::vector<std::uint32_t> order;     // schedule nodes, in creation order, which is topological
  std::vector<std::uint32_t> lane;      // by schedule node
  std::vector<std::uint32_t> position;  // by schedule node: its place in its lane
  std::vector<std::uint32_t>
      before;  // by schedule node: the schedule node before it in its lane; kNone for the first
  std::uint32_t lanes = 0;  // lanes in use, at most the number asked for
};

// A node goes on in a parent's lane where that parent is the lane's last, else it takes the lane
// that frees first; among equals one that already holds a parent. O((nodes + edges) log lanes).
// `max_lanes` is at least 1.
[[nodiscard]] LaneAssignment assign_lanes(const DependencyGraph& dependencies,
                                          std::uint32_t max_lanes);

// The size of the largest set of unordered nodes that is found at a glance: all roots, all leaves,
// one node's parents or children, all nodes of one depth. At most the graph's true width, as long
// as no edge is implied by others.
[[nodiscard]] std::uint32_t known_width(const DependencyGraph& dependencies);

// For each schedule node its parent that is best to go on from: the one that ends last among those
// that no earlier node goes on from. kNone where there is none.
[[nodiscard]] std::vector<std::uint32_t> continued_parents(const DependencyGraph& dependencies);

}  // namespace reprise::detail

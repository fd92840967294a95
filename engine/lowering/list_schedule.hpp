// List schedule with unit costs: the lane and creation order of each dependency node. Priority is
// the longest path to a leaf. Knows no device and only needed edges. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

struct LaneAssignment {
  std::vector<std::uint32_t> order;     // dependency nodes in creation order, which is topological
  std::vector<std::uint32_t> lane;      // by dependency node
  std::vector<std::uint32_t> position;  // by dependency node: index in its lane
  // By dependency node: the previous node of its lane; kNone for the first.
  std::vector<std::uint32_t> before;
  std::uint32_t lanes = 0;  // lanes in use, at most the requested number
};

// A node continues a parent's lane if that parent is the lane's last node. Otherwise it takes the
// lane that becomes free first, on ties a lane with a parent. O((nodes + edges) log lanes).
// `max_lanes` is at least 1.
[[nodiscard]] LaneAssignment assign_lanes(const DependencyGraph& dependencies,
                                          std::uint32_t max_lanes);

// A lower bound of the graph's width (its largest antichain), in linear time: the maximum of all
// roots, all leaves, the parents or children of one node, and the nodes of one depth. Requires a
// graph without redundant edges.
[[nodiscard]] std::uint32_t width_lower_bound(const DependencyGraph& dependencies);

// For each dependency node, the parent whose lane it should continue: the parent that ends last and
// that no earlier node continues. kNone if there is none.
[[nodiscard]] std::vector<std::uint32_t> preferred_parents(const DependencyGraph& dependencies);

}  // namespace reprise::detail

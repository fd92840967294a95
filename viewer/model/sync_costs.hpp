// The cost of ordering: how much shorter the longest path through a graph would be without one
// edge, or without all edges of one barrier; and which edges and barriers are redundant. The costs
// assume unchanged node durations: concurrent nodes may slow each other down. Time: O((nodes +
// edges) log edges) for edge costs, O(nodes x edges / 64) for redundancy, and one more longest-path
// pass per barrier with a critical edge. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

struct EdgeCost {
  double cost = 0;            // ns
  bool is_critical = false;   // on a longest path
  bool is_redundant = false;  // other edges already imply this order
};

struct BarrierCost {
  double cost = 0;
  std::uint32_t edges = 0, critical_edges = 0, redundant_edges = 0;
  [[nodiscard]] bool is_redundant() const noexcept { return edges == redundant_edges; }
};

struct SyncCosts {
  std::vector<EdgeCost> edges;        // one per edge
  std::vector<BarrierCost> barriers;  // one per barrier
  double length = 0;                  // of the longest path, ns
};

// `durations`: one per node, ns, non-negative.
[[nodiscard]] SyncCosts sync_costs(const Graph& graph, const std::vector<double>& durations);

}  // namespace reprise::model

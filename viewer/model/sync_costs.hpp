// What ordering costs: how much shorter the longest way through a graph would be without one edge,
// or without all edges of one barrier; and which edges and barriers order nothing. Costs hold for
// durations that stay as they are: what runs side by side may slow the other down. Edges together
// O((nodes + edges) log edges) beside what orders nothing, which is O(nodes x edges / 64); each
// barrier with an edge on a longest way costs one more pass. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

struct EdgeCost {
  double cost = 0;           // ns
  bool is_critical = false;  // on a longest way
  bool is_implied = false;   // other edges order the same nodes already
};

struct BarrierCost {
  double cost = 0;
  std::uint32_t edges = 0, critical_edges = 0, implied_edges = 0;
  [[nodiscard]] bool orders_nothing() const noexcept { return edges == implied_edges; }
};

struct SyncCosts {
  std::vector<EdgeCost> edges;        // an edge each
  std::vector<BarrierCost> barriers;  // a barrier each
  double length = 0;                  // of the longest way, ns
};

// `durations`: a node each, ns, none below 0.
[[nodiscard]] SyncCosts sync_costs(const Graph& graph, const std::vector<double>& durations);

}  // namespace reprise::model

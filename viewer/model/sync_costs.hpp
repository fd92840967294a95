// The cost of ordering: how much shorter a replay would be without one edge, or without all edges
// of one barrier; and which edges and barriers are redundant.
//
// Each cost is the result of a new schedule: without the edge u -> v every other pair of nodes
// keeps its order, also the pairs that only this edge orders (a predecessor of u still precedes v).
// Only u and v may overlap, so the gain is at most the shorter of both, and less if both together
// need more than the device has. A schedule takes at least `length` and at least `busy`.
// The costs assume unchanged node durations. Time: O((nodes + edges) log edges) for edge costs,
// O(nodes x edges / 64) for redundancy, and one more longest-path pass per barrier with a critical
// edge. Threads: pure functions.
#pragma once

#include <algorithm>
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
  double busy = 0;                    // ns for which the nodes occupy the whole device
  // A lower bound for a replay in this order.
  [[nodiscard]] double estimate() const noexcept { return std::max(length, busy); }
};

// The fraction of the device that each node occupies, 0 to 1: of a GPU, the number of blocks
// relative to the multiprocessors; of the host device, one worker. 0 if unknown. `device`: null if
// the trace does not describe it.
[[nodiscard]] std::vector<double> device_demand(const Graph& graph, const trace::Device* device);

// `durations`: one per node, ns, non-negative. `demand`: see device_demand().
[[nodiscard]] SyncCosts sync_costs(const Graph& graph, const std::vector<double>& durations,
                                   const std::vector<double>& demand);

// True if the later node reads what the earlier one writes: no schedule can change this order.
[[nodiscard]] bool is_data_flow(const trace::Edge& edge);

}  // namespace reprise::model

// SyncViewModel: the cost of ordering in one graph by edge, barrier and cause; the gaps between the
// ends of edges in one replay; validation findings about ordering. Independent of ImGui. Threads:
// values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/document.hpp"
#include "model/replay_times.hpp"
#include "model/sync_costs.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kEdgeCauses = 7;  // number of trace::EdgeCause values

// Whether an edge or barrier could be removed without losing order.
enum class Redundancy : std::uint8_t {
  None,        // required
  ByLowering,  // only lane or entry/exit edges order the same nodes; another lowering may not
  Full         // other required edges order the same nodes
};

struct SyncViewModel {
  struct Cause {
    std::uint32_t edges = 0, critical = 0, redundant = 0;
    double cost = 0;  // ns: reduction of the critical path without all edges of this cause
  };
  std::shared_ptr<const model::Graph> graph;
  model::SyncCosts costs;
  bool has_times = false;  // false: all costs are 0 and meaningless
  std::array<Cause, kEdgeCauses> causes;
  std::vector<Redundancy> edge_redundancy, barrier_redundancy;  // per edge, per barrier
  std::uint32_t redundant_barriers = 0;                         // with Redundancy::Full
  // The edge and barrier with the highest cost above 0; kNone if all costs are 0.
  std::uint32_t costliest_edge = trace::kNone, costliest_barrier = trace::kNone;

  [[nodiscard]] std::span<const std::uint32_t> edges_of(std::uint32_t barrier) const {
    return std::span(barrier_edges)
        .subspan(barrier_offsets[barrier], barrier_offsets[barrier + 1] - barrier_offsets[barrier]);
  }
  // Edges of barrier b: barrier_edges[barrier_offsets[b], barrier_offsets[b + 1]), ascending.
  std::vector<std::uint32_t> barrier_offsets, barrier_edges;
};

// `durations`: median per node in ns.
[[nodiscard]] SyncViewModel sync_view_model(std::shared_ptr<const model::Graph> graph,
                                            const std::vector<double>& durations);

// The gap at an edge in one replay.
struct EdgeGap {
  trace::Time time = 0;    // end of the earlier to start of the later node, ns; negative: overlap
  bool is_known = false;   // both nodes have samples
  bool is_latest = false;  // no other predecessor of the later node ended later
};
[[nodiscard]] std::vector<EdgeGap> edge_gaps(const model::Graph& graph,
                                             const model::ReplayTimes& times);

// Start and end nodes of a set of edges. Join nodes, which do no work, are replaced by their
// neighbours.
struct EdgeEnds {
  std::vector<std::uint32_t> before, after;  // ascending
};
[[nodiscard]] EdgeEnds ends_of(const model::Graph& graph, std::span<const std::uint32_t> edges);

struct Finding {
  trace::Message message;
  std::uint32_t node = trace::kNone, other_node = trace::kNone;
  std::uint32_t barrier = trace::kNone;
};
// Messages about ordering or transients in arrival order that refer to this graph or to a graph
// that was not compiled.
[[nodiscard]] std::vector<Finding> findings(const model::Graph& graph,
                                            const model::ListView<trace::Message>& messages);
[[nodiscard]] bool is_hazard(const Finding& finding);

}  // namespace reprise::viewer

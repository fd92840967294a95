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
#include "model/edge_gaps.hpp"
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
    // ns: reduction of the replay without all edges of this cause; only for added edges
    double cost = 0;
  };
  std::shared_ptr<const model::Graph> graph;
  model::SyncCosts costs;
  std::vector<double> demand;  // per node, see model::device_demand()
  bool has_times = false;      // false: all costs are 0 and meaningless
  std::array<Cause, kEdgeCauses> causes;
  std::vector<Redundancy> edge_redundancy, barrier_redundancy;  // per edge, per barrier
  std::uint32_t redundant_barriers = 0;                         // with Redundancy::Full
  // The edge that is not data flow, and the barrier, with the highest cost above 0; kNone if all
  // costs are 0.
  std::uint32_t costliest_edge = trace::kNone, costliest_barrier = trace::kNone;

  [[nodiscard]] std::span<const std::uint32_t> edges_of(std::uint32_t barrier) const {
    return std::span(barrier_edges)
        .subspan(barrier_offsets[barrier], barrier_offsets[barrier + 1] - barrier_offsets[barrier]);
  }
  // Edges of barrier b: barrier_edges[barrier_offsets[b], barrier_offsets[b + 1]), ascending.
  std::vector<std::uint32_t> barrier_offsets, barrier_edges;
};

// `durations`: median per node in ns. `demand`: see model::device_demand(); empty: unknown.
[[nodiscard]] SyncViewModel sync_view_model(std::shared_ptr<const model::Graph> graph,
                                            const std::vector<double>& durations,
                                            std::vector<double> demand = {});

// True for edges that lowering added: false dependencies.
[[nodiscard]] bool is_added(trace::EdgeCause cause);

// Why the cost of an edge is 0.
enum class NoGain : std::uint8_t {
  None,             // it is not 0
  NotCritical,      // another path is longer
  DeviceBusy,       // the nodes occupy the whole device for the length of the critical path
  NodesFillDevice,  // both nodes together need more than the device has
  OtherPath         // another path is as long
};
[[nodiscard]] NoGain no_gain(const SyncViewModel& view_model, std::uint32_t edge);

// The gaps that the edge table shows. Null: not known.
struct ShownGaps {
  std::shared_ptr<const std::vector<model::EdgeGap>> of_replay;
  std::shared_ptr<const model::MedianGaps> medians;
  friend bool operator==(const ShownGaps&, const ShownGaps&) = default;
};

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

// SyncFacts: what ordering costs in one graph, by edge, by barrier and by cause, and how long the
// ends of each edge lay apart in one replay; what the validation found about ordering. Knows no
// ImGui. Threads: values and pure functions.
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

inline constexpr std::size_t kEdgeCauses = 7;  // of trace::EdgeCause

// Whether the program could do without something that orders.
enum class Need : std::uint8_t {
  Needed,
  ByLanes,  // lanes or the frame order the same nodes now; with other lanes they would not
  None      // what the nodes need beside it orders them already: it orders nothing
};

struct SyncViewModel {
  struct Cause {
    std::uint32_t edges = 0, critical = 0, implied = 0;
    double cost = 0;  // ns: how much shorter the longest way is without all edges of this cause
  };
  std::shared_ptr<const model::Graph> graph;
  model::SyncCosts costs;
  bool has_times = false;  // else every cost is 0, and means nothing
  std::array<Cause, kEdgeCauses> causes;
  std::vector<Need> edge_needs, barrier_needs;  // an edge, a barrier each
  std::uint32_t idle_barriers = 0;              // of Need::None
  // With the greatest cost above 0; kNone: none.
  std::uint32_t costliest_edge = trace::kNone, dearest_barrier = trace::kNone;

  [[nodiscard]] std::span<const std::uint32_t> edges_of(std::uint32_t barrier) const {
    return std::span(barrier_edges)
        .subspan(barrier_offsets[barrier], barrier_offsets[barrier + 1] - barrier_offsets[barrier]);
  }
  std::vector<std::uint32_t> barrier_offsets,
      barrier_edges;  // a barrier each, and the end; edges, ascending
};

// `durations`: medians, a node each, ns.
[[nodiscard]] SyncViewModel sync_view_model(std::shared_ptr<const model::Graph> graph,
                                            const std::vector<double>& durations);

// Of each edge in one replay.
struct EdgeGap {
  trace::Time time = 0;  // from the end of the earlier node to the start of the later one; below 0:
                         // they overlapped
  bool is_known = false;     // both have a time
  bool is_deciding = false;  // no other predecessor of the later node ended after this one: it is
                             // what that one waited for
};
[[nodiscard]] std::vector<EdgeGap> edge_gaps(const model::Graph& graph,
                                             const model::ReplayTimes& times);

// What an edge, or all edges of a barrier, lead from and to: joins, which run nothing, are replaced
// by what is before or behind them.
struct EdgeEnds {
  std::vector<std::uint32_t> before, after;  // nodes, ascending
};
[[nodiscard]] EdgeEnds ends_of(const model::Graph& graph, std::span<const std::uint32_t> edges);

struct Finding {
  trace::Message message;
  std::uint32_t node = trace::kNone, other_node = trace::kNone;
  std::uint32_t barrier = trace::kNone;
};
// Messages that concern ordering or transients, as they came: about this graph, or about one that
// was not compiled because of them.
[[nodiscard]] std::vector<Finding> findings(const model::Graph& graph,
                                            const model::ListView<trace::Message>& messages);
[[nodiscard]] bool is_hazard(const Finding& finding);

}  // namespace reprise::viewer

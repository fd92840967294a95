#include "model/edge_gaps.hpp"

#include <algorithm>

#include "base/quantile_rank.hpp"

namespace reprise::model {

using trace::Time;

namespace {

constexpr std::size_t kMaxValues = 4'000'000;  // about 64 MB while the medians are computed
constexpr std::size_t kMinReplays = 8, kMaxReplays = 512;

std::vector<MedianGap> medians_of(std::vector<std::vector<Time>>& values) {
  std::vector<MedianGap> medians(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    medians[i] = {static_cast<double>(detail::quantile_of(values[i], 0.5)),
                  static_cast<std::uint32_t>(values[i].size())};
  }
  return medians;
}

}  // namespace

std::vector<EdgeGap> edge_gaps(const Graph& graph, const ReplayTimes& times) {
  std::vector<EdgeGap> gaps(graph.record().edges.size());
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    Time last = 0;
    bool any = false;
    for (const Neighbour& p : graph.predecessors(n)) {
      const NodeSpan& before = times.nodes[p.node];
      if (before.measured && (!any || before.ended > last)) last = before.ended;
      any = any || before.measured;
    }
    for (const Neighbour& p : graph.predecessors(n)) {
      const NodeSpan &before = times.nodes[p.node], &after = times.nodes[n];
      if (!before.measured || !after.measured) continue;
      gaps[p.edge] = {after.started - before.ended, true, before.ended == last};
    }
  }
  return gaps;
}

MedianGaps median_gaps(const Graph& graph, const std::vector<SampleStore::Block>& blocks) {
  std::vector<std::vector<Time>> edges(graph.record().edges.size()), nodes(graph.node_count());
  for (const SampleStore::Block& block : blocks) {
    const ReplayTimes times = replay_times(graph, *block);
    for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) {
      if (times.nodes[n].measured)
        nodes[n].push_back(times.nodes[n].started - ready_at(graph, times, n));
    }
    const std::vector<EdgeGap> gaps = edge_gaps(graph, times);
    for (std::size_t e = 0; e < gaps.size(); ++e) {
      if (gaps[e].is_known && gaps[e].is_latest) edges[e].push_back(gaps[e].time);
    }
  }
  return {medians_of(edges), medians_of(nodes)};
}

std::size_t gap_replays(const Graph& graph) {
  return std::clamp(kMaxValues / std::max<std::size_t>(graph.node_count(), 1), kMinReplays,
                    kMaxReplays);
}

}  // namespace reprise::model

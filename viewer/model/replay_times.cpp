#include "model/replay_times.hpp"

#include <algorithm>

namespace reprise::model {

ReplayTimes replay_times(const Graph& graph, const trace::SampleBlock& block) {
  ReplayTimes times;
  times.nodes.resize(graph.node_count());
  for (const trace::Sample& s : block.samples) {
    if (s.started == 0 || s.node >= times.nodes.size()) continue;
    NodeSpan& span = times.nodes[s.node];
    const trace::Time ended = s.started + s.duration;
    span = span.measured ? NodeSpan{std::min(span.started, s.started), std::max(span.ended, ended),
                                    true, span.taken + s.duration}
                         : NodeSpan{s.started, ended, true, s.duration};
    times.started = times.started == 0 ? s.started : std::min(times.started, s.started);
    times.ended = std::max(times.ended, ended);
  }
  for (std::uint32_t n = 0; n < times.nodes.size(); ++n) {
    NodeSpan& span = times.nodes[n];
    if (n < graph.own_node_count()) span.taken = span.ended - span.started;
    if (span.measured) continue;
    const std::uint32_t parent = graph.parent(n);
    span.started = parent == trace::kNone ? times.started : times.nodes[parent].started;
    for (const Neighbour& p : graph.predecessors(n))
      span.started = std::max(span.started, times.nodes[p.node].ended);
    span.ended = span.started;
  }
  return times;
}

trace::Time ready_at(const Graph& graph, const ReplayTimes& times, std::uint32_t node) {
  const auto predecessors = graph.predecessors(node);
  if (predecessors.empty()) return times.started;
  trace::Time ready = times.nodes[predecessors.front().node].ended;
  for (const Neighbour& p : predecessors) ready = std::max(ready, times.nodes[p.node].ended);
  return ready;
}

std::vector<double> durations(const ReplayTimes& times) {
  std::vector<double> all(times.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(times.nodes[i].taken);
  return all;
}

}  // namespace reprise::model

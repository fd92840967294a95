#include "model/critical_path.hpp"

#include <algorithm>

namespace reprise::model {

LongestPaths longest_paths(const Graph& graph, const std::vector<double>& durations) {
  const std::uint32_t count = graph.own_node_count();
  LongestPaths paths;
  paths.until = durations;
  std::fill(paths.until.begin() + count, paths.until.end(), 0.0);
  paths.from = paths.until;
  for (std::uint32_t n = 0; n < count; ++n) {
    for (const Neighbour& p : graph.predecessors(n))
      paths.until[n] = std::max(paths.until[n], paths.until[p.node] + durations[n]);
    paths.length = std::max(paths.length, paths.until[n]);
  }
  for (std::uint32_t n = count; n-- > 0;) {
    for (const Neighbour& s : graph.successors(n))
      paths.from[n] = std::max(paths.from[n], durations[n] + paths.from[s.node]);
  }
  return paths;
}

CriticalPath critical_path(const Graph& graph, const std::vector<double>& durations) {
  CriticalPath path;
  if (graph.node_count() == 0) return path;
  const LongestPaths paths = longest_paths(graph, durations);
  auto node = static_cast<std::uint32_t>(std::max_element(paths.from.begin(), paths.from.end()) -
                                         paths.from.begin());
  path.steps.push_back({node, trace::kNone, durations[node], 0});
  while (!graph.successors(node).empty()) {
    Neighbour next = graph.successors(node).front();
    for (const Neighbour& s : graph.successors(node)) {
      if (paths.from[s.node] > paths.from[next.node]) next = s;
    }
    node = next.node;
    path.steps.push_back({node, next.edge, durations[node], 0});
  }
  for (const PathStep& s : path.steps) path.work += s.duration;
  return path;
}

CriticalPath critical_path(const Graph& graph, const ReplayTimes& times) {
  CriticalPath path;
  if (times.nodes.empty()) return path;
  std::uint32_t node = 0;
  for (std::uint32_t n = 0; n < graph.own_node_count(); ++n) {
    if (times.nodes[n].ended > times.nodes[node].ended) node = n;
  }
  for (;;) {
    const NodeSpan& span = times.nodes[node];
    const auto predecessors = graph.predecessors(node);
    const auto last = std::max_element(
        predecessors.begin(), predecessors.end(), [&](const Neighbour& a, const Neighbour& b) {
          return times.nodes[a.node].ended < times.nodes[b.node].ended;
        });
    const bool is_first = last == predecessors.end();
    path.steps.push_back({node, is_first ? trace::kNone : last->edge,
                          static_cast<double>(span.ended - span.started),
                          static_cast<double>(span.started - ready_at(graph, times, node))});
    if (is_first) break;
    node = last->node;
  }
  std::reverse(path.steps.begin(), path.steps.end());
  for (const PathStep& s : path.steps) {
    path.work += s.duration;
    path.wait += s.wait;
  }
  return path;
}

}  // namespace reprise::model

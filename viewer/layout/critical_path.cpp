#include "layout/critical_path.hpp"

#include <algorithm>
#include <stdexcept>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

}  // namespace

CriticalPath critical_path(const LayoutGraph& graph, const std::vector<double>& weights) {
  const std::uint32_t nodes = graph.node_count();
  if (weights.size() != nodes) throw std::invalid_argument("critical path: not one weight a node");
  for (const double weight : weights) {
    if (!(weight >= 0)) throw std::invalid_argument("critical path: a weight is below zero");
  }
  const Adjacency adjacency = adjacency_of(graph);
  // The longest ways that begin with a node and that end before it.
  std::vector<double> from(nodes, 0), before(nodes, 0);
  std::vector<std::uint32_t> next(nodes, kNone);
  for (std::uint32_t n = nodes; n-- > 0;) {
    for (std::uint32_t i = adjacency.first_out[n]; i < adjacency.first_out[n + 1]; ++i) {
      const std::uint32_t to = graph.edges[adjacency.out[i]].to;
      if (next[n] == kNone || from[to] > from[next[n]] || (from[to] == from[next[n]] && to < next[n])) next[n] = to;
    }
    from[n] = weights[n] + (next[n] == kNone ? 0 : from[next[n]]);
  }
  for (std::uint32_t n = 0; n < nodes; ++n) {
    for (std::uint32_t i = adjacency.first_in[n]; i < adjacency.first_in[n + 1]; ++i) {
      const std::uint32_t source = graph.edges[adjacency.in[i]].from;
      before[n] = std::max(before[n], before[source] + weights[source]);
    }
  }
  CriticalPath result;
  if (nodes == 0) return result;
  std::uint32_t first = kNone;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const bool is_source = adjacency.first_in[n] == adjacency.first_in[n + 1];
    if (is_source && (first == kNone || from[n] > from[first])) first = n;
  }
  result.length = from[first];
  for (std::uint32_t n = first; n != kNone; n = next[n]) result.nodes.push_back(n);
  result.slack.resize(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) result.slack[n] = std::max(0.0, result.length - before[n] - from[n]);
  return result;
}

}  // namespace reprise::viewer

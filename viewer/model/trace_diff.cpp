#include "model/trace_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/node_matching.hpp"

namespace reprise::model {

namespace {

Change change_of(const detail::DurationHistogram& a, const detail::DurationHistogram& b,
                 std::size_t compared) {
  Change c{a.count(), b.count(), a.quantile(0.5), b.quantile(0.5), 0, compare(a, b), false};
  if (c.median_a > 0) c.relative = (c.median_b - c.median_a) / c.median_a;
  c.is_significant = is_significant(c.comparison.p, compared);
  return c;
}

// The version of each name to compare. Graphs are ordered by graph and version.
std::map<std::string, const GraphSummary*> by_name(const TraceSummary& summary) {
  std::map<std::string, const GraphSummary*> graphs;
  for (const GraphSummary& g : summary.graphs) {
    const GraphSummary*& chosen = graphs[g.name];
    if (chosen == nullptr || g.samples != 0 || chosen->samples == 0) chosen = &g;
  }
  return graphs;
}

NodeMatching match(const GraphSummary& a, const GraphSummary& b) {
  const auto identities = [](const GraphSummary& g) {
    std::vector<NodeIdentity> all;
    for (const NodeSummary& n : g.nodes) all.push_back({n.name, n.label_path, n.kind, n.command});
    return all;
  };
  return match_nodes(identities(a), identities(b));
}

std::string full_name(const NodeSummary& node) {
  return node.label_path.empty() ? node.name : node.label_path + " / " + node.name;
}

GraphDiff diff(const GraphSummary& a, const GraphSummary& b) {
  GraphDiff d;
  d.name = a.name;
  d.graph_a = a.graph;
  d.version_a = a.version;
  d.graph_b = b.graph;
  d.version_b = b.version;
  d.same_plan = a.plan_hash == b.plan_hash;
  d.device_time = change_of(a.device_time, b.device_time, 1);
  d.launch_call = change_of(a.launch_call, b.launch_call, 1);
  d.launch_latency = change_of(a.launch_latency, b.launch_latency, 1);
  const NodeMatching matching = match(a, b);
  std::size_t compared = 0;
  for (const auto& [n, m] : matching.pairs)
    compared += a.nodes[n].times.count() != 0 && b.nodes[m].times.count() != 0 ? 1 : 0;
  for (const auto& [n, m] : matching.pairs) {
    const NodeSummary &one = a.nodes[n], &other = b.nodes[m];
    if (one.times.count() == 0 && other.times.count() == 0) continue;
    d.nodes.push_back({one.node, other.node, one.name, one.label_path,
                       change_of(one.times, other.times, compared)});
  }
  for (const std::uint32_t n : matching.removed) d.removed.push_back(full_name(a.nodes[n]));
  for (const std::uint32_t n : matching.added) d.added.push_back(full_name(b.nodes[n]));
  std::stable_sort(d.nodes.begin(), d.nodes.end(), [](const NodeChange& x, const NodeChange& y) {
    return std::abs(x.time.median_b - x.time.median_a) >
           std::abs(y.time.median_b - y.time.median_a);
  });
  return d;
}

}  // namespace

TraceDiff diff(const TraceSummary& a, const TraceSummary& b) {
  TraceDiff d;
  const auto graphs_a = by_name(a), graphs_b = by_name(b);
  for (const auto& [name, graph] : graphs_a) {
    const auto other = graphs_b.find(name);
    if (other == graphs_b.end()) {
      d.only_a.push_back(name);
    } else {
      d.graphs.push_back(diff(*graph, *other->second));
    }
  }
  for (const auto& [name, graph] : graphs_b) {
    if (graphs_a.count(name) == 0) d.only_b.push_back(name);
  }
  return d;
}

}  // namespace reprise::model

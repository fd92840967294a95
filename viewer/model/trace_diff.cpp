#include "model/trace_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace reprise::viewer {

namespace {

Change change_of(const trace::DurationHistogram& a, const trace::DurationHistogram& b, std::size_t compared) {
  Change c{a.count(), b.count(), a.quantile(0.5), b.quantile(0.5), 0, compare(a, b), false};
  if (c.median_a > 0) c.part = (c.median_b - c.median_a) / c.median_a;
  c.is_significant = c.comparison.p * static_cast<double>(compared) < kSignificance;
  return c;
}

// Of each name the version that is compared. Graphs come by graph and version.
std::map<std::string, const GraphSummary*> by_name(const TraceSummary& summary) {
  std::map<std::string, const GraphSummary*> graphs;
  for (const GraphSummary& g : summary.graphs) {
    const GraphSummary*& chosen = graphs[g.name];
    if (chosen == nullptr || g.samples != 0 || chosen->samples == 0) chosen = &g;
  }
  return graphs;
}

// Name, label path, kind, and which of those that share these.
using NodeKey = std::tuple<std::string, std::string, trace::NodeKind, std::size_t>;

std::map<NodeKey, const NodeSummary*> by_key(const GraphSummary& graph) {
  std::vector<const NodeSummary*> nodes;
  for (const NodeSummary& n : graph.nodes) nodes.push_back(&n);
  // Lanes change the order of nodes, and never that of commands.
  std::stable_sort(nodes.begin(), nodes.end(), [](const NodeSummary* a, const NodeSummary* b) { return a->command < b->command; });
  std::map<NodeKey, std::size_t> seen;
  std::map<NodeKey, const NodeSummary*> keyed;
  for (const NodeSummary* n : nodes) {
    const std::size_t nth = seen[{n->name, n->label_path, n->kind, 0}]++;
    keyed.emplace(NodeKey{n->name, n->label_path, n->kind, nth}, n);
  }
  return keyed;
}

std::string full_name(const NodeSummary& node) { return node.label_path.empty() ? node.name : node.label_path + " / " + node.name; }

GraphDiff diff(const GraphSummary& a, const GraphSummary& b) {
  GraphDiff d;
  d.name = a.name;
  d.graph_a = a.graph;
  d.version_a = a.version;
  d.graph_b = b.graph;
  d.version_b = b.version;
  d.same_plan = a.plan_hash == b.plan_hash;
  d.device_time = change_of(a.device_time, b.device_time, 1);
  d.launch = change_of(a.launch, b.launch, 1);
  const auto nodes_a = by_key(a), nodes_b = by_key(b);
  std::vector<std::pair<const NodeSummary*, const NodeSummary*>> matched;
  for (const auto& [key, node] : nodes_a) {
    const auto other = nodes_b.find(key);
    if (other == nodes_b.end()) {
      d.removed.push_back(full_name(*node));
    } else if (node->times.count() != 0 || other->second->times.count() != 0) {
      matched.emplace_back(node, other->second);
    }
  }
  for (const auto& [key, node] : nodes_b) {
    if (nodes_a.count(key) == 0) d.added.push_back(full_name(*node));
  }
  for (const auto& [one, other] : matched) {
    d.nodes.push_back({one->node, other->node, one->name, one->label_path, change_of(one->times, other->times, matched.size())});
  }
  std::stable_sort(d.nodes.begin(), d.nodes.end(), [](const NodeChange& x, const NodeChange& y) {
    return std::abs(x.time.median_b - x.time.median_a) > std::abs(y.time.median_b - y.time.median_a);
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

}  // namespace reprise::viewer

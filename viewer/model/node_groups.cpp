#include "model/node_groups.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/node_shares.hpp"
#include "trace/record_names.hpp"

namespace reprise::model {

using trace::kNone;

namespace {

// The kernel of a node. A child graph, such as an op's, has the name of its node, which says what
// it computes; all other nodes without a kernel have that of their kind.
std::string kernel_or_kind(const Graph& graph, std::uint32_t node) {
  const std::string& kernel = graph.kernel_name(node);
  if (!kernel.empty()) return kernel;
  const trace::NodeKind kind = graph.record().nodes[node].kind;
  return kind == trace::NodeKind::Child ? graph.node_name(node) : trace::kind_name(kind);
}

// Adds a node to groups, and tracks the most expensive node of each.
class Groups {
 public:
  std::vector<NodeGroup> all;

  std::uint32_t append(std::string name, std::uint32_t parent, bool is_label) {
    NodeGroup group;
    group.name = std::move(name);
    group.parent = parent;
    group.depth = parent == kNone ? 0 : all[parent].depth + 1;
    group.is_label = is_label;
    all.push_back(std::move(group));
    costliest_.push_back(-1);
    return static_cast<std::uint32_t>(all.size()) - 1;
  }
  void add(std::uint32_t at, std::uint32_t graph, std::uint32_t node, double time,
           std::uint64_t samples) {
    NodeGroup& group = all[at];
    ++group.nodes;
    group.samples += samples;
    group.total += time;
    if (time <= costliest_[at]) return;
    costliest_[at] = time;
    group.graph = graph;
    group.node = node;
  }
  void set_shares(double whole) {
    for (NodeGroup& group : all) group.share = whole > 0 ? group.total / whole : 0;
  }

 private:
  std::vector<double> costliest_;
};

// Calls `each` with (graph, node, time without the nodes that it runs) for all nodes. Returns the
// sum of the times.
template <class Each>
double for_each_node(std::span<const NodeTimes> graphs, Each each) {
  double whole = 0;
  for (std::uint32_t g = 0; g < graphs.size(); ++g) {
    const Graph& graph = *graphs[g].graph;
    const std::vector<double> self =
        self_times(graphs[g].totals, [&](std::uint32_t n) { return graph.parent(n); });
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      each(g, n, self[n]);
      whole += self[n];
    }
  }
  return whole;
}

// The groups in preorder, siblings by total.
std::vector<NodeGroup> in_preorder(std::vector<NodeGroup> groups) {
  std::vector<std::vector<std::uint32_t>> children(groups.size());
  for (std::uint32_t i = 1; i < groups.size(); ++i) children[groups[i].parent].push_back(i);
  std::vector<NodeGroup> sorted;
  sorted.reserve(groups.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{0, kNone}};  // group, new parent
  while (!stack.empty()) {
    const auto [at, parent] = stack.back();
    stack.pop_back();
    auto& below = children[at];
    std::stable_sort(below.begin(), below.end(), [&](std::uint32_t a, std::uint32_t b) {
      return groups[a].total > groups[b].total;
    });
    const auto moved = static_cast<std::uint32_t>(sorted.size());
    for (auto child = below.rbegin(); child != below.rend(); ++child)
      stack.emplace_back(*child, moved);
    sorted.push_back(std::move(groups[at]));
    sorted.back().parent = parent;
  }
  return sorted;
}

// By the name that `name_of` returns for a graph and a node; by total, largest first.
template <class NameOf>
std::vector<NodeGroup> groups_by(std::span<const NodeTimes> graphs, NameOf name_of) {
  Groups groups;
  std::unordered_map<std::string, std::uint32_t> known;
  const double whole = for_each_node(graphs, [&](std::uint32_t g, std::uint32_t n, double time) {
    const std::string name = name_of(*graphs[g].graph, n);
    auto found = known.find(name);
    if (found == known.end()) found = known.emplace(name, groups.append(name, kNone, false)).first;
    groups.add(found->second, g, n, time, graphs[g].counts[n]);
  });
  groups.set_shares(whole);
  std::stable_sort(groups.all.begin(), groups.all.end(),
                   [](const NodeGroup& a, const NodeGroup& b) { return a.total > b.total; });
  return std::move(groups.all);
}

}  // namespace

NodeTimes node_times(const GraphEntry& entry) {
  NodeTimes times{entry.graph.get(), {}, {}};
  for (const NodeStatistics& node : entry.statistics->nodes) {
    times.totals.push_back(static_cast<double>(node.times.sum()));
    times.counts.push_back(node.times.count());
  }
  return times;
}

std::vector<NodeGroup> groups_by_kernel(std::span<const NodeTimes> graphs) {
  return groups_by(graphs, kernel_or_kind);
}

std::vector<NodeGroup> groups_by_kind(std::span<const NodeTimes> graphs) {
  return groups_by(graphs, [](const Graph& graph, std::uint32_t node) -> std::string {
    return graph.kind_name(node);
  });
}

std::vector<NodeGroup> groups_by_source(std::span<const NodeTimes> graphs) {
  return groups_by(graphs, [](const Graph& graph, std::uint32_t node) -> std::string {
    const trace::Node& of = graph.record().nodes[node];
    if (of.line == 0) return "unknown line";
    const std::string& file = graph.record().strings[of.file];
    const std::size_t name = file.find_last_of("/\\");
    const std::size_t folder =
        name == std::string::npos || name == 0 ? name : file.find_last_of("/\\", name - 1);
    return (folder == std::string::npos ? file : file.substr(folder + 1)) + ':' +
           std::to_string(of.line);
  });
}

std::vector<NodeGroup> groups_by_label(std::span<const NodeTimes> graphs) {
  Groups groups;
  groups.append("", kNone, true);
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;  // parent and name
  const auto child = [&](std::uint32_t parent, const std::string& name, bool is_label) {
    // A label and a kernel of the same name are different groups.
    const auto [found, is_new] = known.try_emplace({parent, (is_label ? "l" : "k") + name}, 0);
    if (is_new) found->second = groups.append(name, parent, is_label);
    return found->second;
  };
  std::vector<std::vector<std::uint32_t>> of_label(graphs.size());  // by graph and label
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const auto& record = graphs[g].graph->record();
    of_label[g].assign(record.labels.size(), 0);
    for (std::uint32_t l = 1; l < record.labels.size(); ++l)
      of_label[g][l] =
          child(of_label[g][record.labels[l].parent], record.strings[record.labels[l].name], true);
  }
  const double whole = for_each_node(graphs, [&](std::uint32_t g, std::uint32_t n, double time) {
    const Graph& graph = *graphs[g].graph;
    const std::uint32_t label = of_label[g][graph.record().nodes[n].label];
    for (std::uint32_t at = child(label, kernel_or_kind(graph, n), false); at != kNone;
         at = groups.all[at].parent)
      groups.add(at, g, n, time, graphs[g].counts[n]);
  });
  groups.set_shares(whole);
  return in_preorder(std::move(groups.all));
}

}  // namespace reprise::model

#include "layout/collapse.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "layout/strong_components.hpp"

namespace reprise::viewer {

namespace {

// A partition of the original nodes; parts are numbered by their smallest node.
struct Parts {
  std::vector<std::uint32_t> part_of;   // per node
  std::vector<std::uint32_t> group_of;  // per part, or kNoGroup
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(group_of.size());
  }
};

// The outermost collapsed group around each node.
std::vector<std::uint32_t> collapsed_groups(const LayoutGraph& graph, const CollapseDesc& desc) {
  std::vector<std::uint32_t> outermost(graph.group_parent.size(), kNoGroup);
  for (std::uint32_t g = 0; g < outermost.size(); ++g) {
    const std::uint32_t parent = graph.group_parent[g];
    if (parent != kNoGroup) outermost[g] = outermost[parent];
    if (outermost[g] == kNoGroup && desc.collapsed[g]) outermost[g] = g;
  }
  std::vector<std::uint32_t> result(graph.node_count(), kNoGroup);
  for (std::uint32_t n = 0; n < graph.node_group.size(); ++n) {
    if (graph.node_group[n] != kNoGroup) result[n] = outermost[graph.node_group[n]];
  }
  return result;
}

// Nodes of a group with equal turns form one part; every other node forms its own.
Parts make_parts(const std::vector<std::uint32_t>& groups,
                 const std::vector<std::uint32_t>& turns) {
  Parts parts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t n = 0; n < groups.size(); ++n) {
    std::uint32_t part = parts.count();
    if (groups[n] != kNoGroup) part = known.try_emplace({groups[n], turns[n]}, part).first->second;
    if (part == parts.count()) parts.group_of.push_back(groups[n]);
    parts.part_of.push_back(part);
  }
  return parts;
}

// For each node, the maximum number of part changes along a path to it, counted within strongly
// connected parts only. The count never decreases along such a path and increases at each change,
// so parts split by the count are acyclic.
std::vector<std::uint32_t> turns_of(const LayoutGraph& graph, const Parts& parts,
                                    const std::vector<std::uint32_t>& strong) {
  std::vector<std::uint32_t> turns(graph.node_count(), 0);
  const Adjacency adjacency = adjacency_of(graph);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    for (std::uint32_t i = adjacency.first_in[n]; i < adjacency.first_in[n + 1]; ++i) {
      const std::uint32_t source = graph.edges[adjacency.in[i]].from;
      const std::uint32_t a = parts.part_of[source], b = parts.part_of[n];
      if (strong[a] == strong[b]) turns[n] = std::max(turns[n], turns[source] + (a == b ? 0 : 1));
    }
  }
  return turns;
}

std::vector<LayoutEdge> edges_of(const LayoutGraph& graph, const Parts& parts) {
  std::vector<LayoutEdge> result;
  for (const LayoutEdge edge : graph.edges) {
    const LayoutEdge between{parts.part_of[edge.from], parts.part_of[edge.to]};
    if (between.from != between.to) result.push_back(between);
  }
  std::sort(result.begin(), result.end(), [](LayoutEdge a, LayoutEdge b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return result;
}

// Renumbers the parts topologically; among the candidates, the smallest old number comes first.
std::vector<std::uint32_t> number_parts(std::uint32_t count, const std::vector<LayoutEdge>& edges) {
  std::vector<std::uint32_t> waits_for(count, 0), first(count + 1, 0), number(count, 0);
  for (const LayoutEdge edge : edges) {
    ++waits_for[edge.to];
    ++first[edge.from + 1];
  }
  for (std::uint32_t p = 0; p < count; ++p) first[p + 1] += first[p];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t p = 0; p < count; ++p) {
    if (waits_for[p] == 0) ready.push(p);
  }
  for (std::uint32_t next = 0; !ready.empty(); ++next) {
    const std::uint32_t part = ready.top();
    ready.pop();
    number[part] = next;
    for (std::uint32_t i = first[part]; i < first[part + 1]; ++i) {
      if (--waits_for[edges[i].to] == 0) ready.push(edges[i].to);
    }
  }
  return number;
}

void add_edges(CollapsedGraph& result, std::vector<LayoutEdge> edges,
               const std::vector<std::uint32_t>& number) {
  for (LayoutEdge& edge : edges) edge = {number[edge.from], number[edge.to]};
  std::sort(edges.begin(), edges.end(), [](LayoutEdge a, LayoutEdge b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  for (const LayoutEdge edge : edges) {
    auto& known = result.graph.edges;
    if (!known.empty() && known.back().from == edge.from && known.back().to == edge.to) {
      ++result.edge_multiplicity.back();
    } else {
      known.push_back(edge);
      result.edge_multiplicity.push_back(1);
    }
  }
}

}  // namespace

CollapsedGraph collapse(const LayoutGraph& graph, const CollapseDesc& desc) {
  check_layout_graph(graph);
  const std::size_t groups = graph.group_parent.size();
  if (desc.collapsed.size() != groups || desc.group_sizes.size() != groups)
    throw std::invalid_argument("collapse: " + std::to_string(groups) + " groups have " +
                                std::to_string(desc.collapsed.size()) + " flags and " +
                                std::to_string(desc.group_sizes.size()) + " sizes");

  const std::vector<std::uint32_t> group_of_node = collapsed_groups(graph, desc);
  Parts parts = make_parts(group_of_node, std::vector<std::uint32_t>(graph.node_count(), 0));
  const std::vector<std::uint32_t> strong =
      strong_components(parts.count(), edges_of(graph, parts));
  parts = make_parts(group_of_node, turns_of(graph, parts, strong));
  const std::vector<LayoutEdge> edges = edges_of(graph, parts);
  const std::vector<std::uint32_t> number = number_parts(parts.count(), edges);

  CollapsedGraph result;
  result.graph.sizes.resize(parts.count());
  result.graph.group_parent = graph.group_parent;
  if (!graph.node_group.empty()) result.graph.node_group.assign(parts.count(), kNoGroup);
  if (!graph.node_lane.empty()) result.graph.node_lane.assign(parts.count(), 0);
  result.group_of.assign(parts.count(), kNoGroup);
  result.member_count.assign(parts.count(), 0);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const std::uint32_t part = parts.part_of[n], group = parts.group_of[part], made = number[part];
    result.node_of.push_back(made);
    if (result.member_count[made]++ > 0) continue;
    result.group_of[made] = group;
    result.graph.sizes[made] = group == kNoGroup ? graph.sizes[n] : desc.group_sizes[group];
    if (!graph.node_group.empty())
      result.graph.node_group[made] =
          group == kNoGroup ? graph.node_group[n] : graph.group_parent[group];
    if (!graph.node_lane.empty()) result.graph.node_lane[made] = graph.node_lane[n];
  }
  add_edges(result, edges, number);
  return result;
}

}  // namespace reprise::viewer

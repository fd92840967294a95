#include "layout/layout_graph.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace reprise::viewer {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("layout graph: " + what);
}

}  // namespace

void check_layout_graph(const LayoutGraph& graph) {
  const std::uint32_t nodes = graph.node_count();
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const Size size = graph.sizes[n];
    if (!std::isfinite(size.width) || !std::isfinite(size.height) || size.width < 0 ||
        size.height < 0) {
      refuse("node " + std::to_string(n) + " has no finite size of at least 0");
    }
  }
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    const LayoutEdge edge = graph.edges[e];
    if (edge.from >= edge.to || edge.to >= nodes)
      refuse("edge " + std::to_string(e) + " does not lead to a later node");
  }
  if (!graph.node_lane.empty() && graph.node_lane.size() != nodes)
    refuse(std::to_string(graph.node_lane.size()) + " lanes for " + std::to_string(nodes) +
           " nodes");
  if (!graph.node_group.empty() && graph.node_group.size() != nodes)
    refuse(std::to_string(graph.node_group.size()) + " groups for " + std::to_string(nodes) +
           " nodes");
  for (const std::uint32_t group : graph.node_group) {
    if (group != kNoGroup && group >= graph.group_parent.size())
      refuse("a node is in group " + std::to_string(group) + " of " +
             std::to_string(graph.group_parent.size()));
  }
  for (std::uint32_t g = 0; g < graph.group_parent.size(); ++g) {
    if (graph.group_parent[g] != kNoGroup && graph.group_parent[g] >= g)
      refuse("group " + std::to_string(g) + " precedes its parent");
  }
}

Adjacency adjacency_of(const LayoutGraph& graph) {
  Adjacency result;
  const std::uint32_t nodes = graph.node_count();
  result.first_out.assign(nodes + 1, 0);
  result.first_in.assign(nodes + 1, 0);
  for (const LayoutEdge edge : graph.edges) {
    ++result.first_out[edge.from + 1];
    ++result.first_in[edge.to + 1];
  }
  for (std::uint32_t n = 0; n < nodes; ++n) {
    result.first_out[n + 1] += result.first_out[n];
    result.first_in[n + 1] += result.first_in[n];
  }
  result.out.resize(graph.edges.size());
  result.in.resize(graph.edges.size());
  std::vector<std::uint32_t> next_out(result.first_out.begin(), result.first_out.end() - 1);
  std::vector<std::uint32_t> next_in(result.first_in.begin(), result.first_in.end() - 1);
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    result.out[next_out[graph.edges[e].from]++] = e;
    result.in[next_in[graph.edges[e].to]++] = e;
  }
  return result;
}

}  // namespace reprise::viewer

#include "layout/components.hpp"

#include <numeric>
#include <utility>

namespace reprise::viewer {

namespace {

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

}  // namespace

std::vector<Component> components_of(const LayoutGraph& graph) {
  const std::uint32_t nodes = graph.node_count();
  std::vector<std::uint32_t> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0u);
  for (const LayoutEdge edge : graph.edges) {
    std::uint32_t a = root_of(parent, edge.from), b = root_of(parent, edge.to);
    if (a > b) std::swap(a, b);
    parent[b] = a;  // the root is the smallest node of its component
  }
  std::vector<Component> result;
  std::vector<std::uint32_t> component(nodes), local(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const std::uint32_t root = root_of(parent, n);
    if (root == n) {
      component[n] = static_cast<std::uint32_t>(result.size());
      result.emplace_back();
    }
    component[n] = component[root];
    Component& part = result[component[n]];
    local[n] = static_cast<std::uint32_t>(part.nodes.size());
    part.nodes.push_back(n);
    part.graph.sizes.push_back(graph.sizes[n]);
    if (!graph.node_lane.empty()) part.graph.node_lane.push_back(graph.node_lane[n]);
    if (!graph.node_group.empty()) part.graph.node_group.push_back(graph.node_group[n]);
  }
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    const LayoutEdge edge = graph.edges[e];
    Component& part = result[component[edge.from]];
    part.edges.push_back(e);
    part.graph.edges.push_back({local[edge.from], local[edge.to]});
  }
  return result;
}

}  // namespace reprise::viewer

#include "lowering/node_attributes.hpp"

#include <algorithm>

namespace reprise::detail {

void mark_programmatic_edges(std::span<const NodeStart> starts, LoweredGraph& graph) {
  if (starts.empty()) return;
  for (const LoweredNode& node : graph.nodes) {
    if (node.dependency_node == kNone || starts[node.dependency_node] != NodeStart::Programmatic)
      continue;
    const auto edges = std::span(graph.edges).subspan(node.first_edge, node.edge_count);
    const bool all_kernels = std::all_of(edges.begin(), edges.end(), [&](const LoweredEdge& edge) {
      const std::uint32_t from = graph.nodes[edge.from].dependency_node;
      return from != kNone && starts[from] != NodeStart::NoKernel;
    });
    if (!all_kernels) continue;
    for (LoweredEdge& edge : edges) edge.strength = EdgeStrength::Programmatic;
  }
}

bool has_programmatic_starts(const LoweredGraph& graph) {
  return std::any_of(graph.edges.begin(), graph.edges.end(), [](const LoweredEdge& edge) {
    return edge.strength == EdgeStrength::Programmatic;
  });
}

bool allows_programmatic_starts(const LoweredGraph& graph, const NodeHints& hints) {
  const auto is_allowed = [&](std::uint32_t node) {
    return !hints.starts.empty() && node != kNone && hints.starts[node] == NodeStart::Programmatic;
  };
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const LoweredNode& node) {
    const auto edges = std::span(graph.edges).subspan(node.first_edge, node.edge_count);
    return is_allowed(node.dependency_node) ||
           std::none_of(edges.begin(), edges.end(), [](const LoweredEdge& e) {
             return e.strength == EdgeStrength::Programmatic;
           });
  });
}

}  // namespace reprise::detail

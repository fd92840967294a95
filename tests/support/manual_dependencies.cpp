#include "support/manual_dependencies.hpp"

#include <algorithm>

#include <reprise/error.hpp>

#include "support/random_recording.hpp"

namespace reprise::test {

using namespace detail;

DependencyGraph manual_dependencies(std::uint32_t nodes, EdgeList edges) {
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  DependencyGraph dependencies;
  dependencies.is_join.assign(nodes, 0);
  std::size_t next = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    dependencies.node_command.push_back(node);
    dependencies.first_edge.push_back(static_cast<std::uint32_t>(next));
    for (; next < edges.size() && edges[next].second == node; ++next) {
      EdgeCause cause;
      cause.kind = CauseKind::Linear;
      dependencies.edges.push_back({edges[next].first, node, cause});
    }
  }
  dependencies.first_edge.push_back(static_cast<std::uint32_t>(next));
  return dependencies;
}

DependencyGraph random_dependencies(const RandomDependenciesDesc& desc) {
  Random random(desc.seed);
  EdgeList edges;
  for (std::uint32_t to = 0; to < desc.nodes; ++to) {
    for (std::uint32_t from = 0; from < to; ++from) {
      if (random.percent(desc.edge_percent)) edges.emplace_back(from, to);
    }
  }
  return manual_dependencies(desc.nodes, std::move(edges));
}

DependencyGraph tree_dependencies(std::uint32_t nodes) {
  EdgeList edges;
  for (std::uint32_t node = 1; node < nodes; ++node) edges.emplace_back((node - 1) / 2, node);
  return manual_dependencies(nodes, std::move(edges));
}

DependencyGraph layer_dependencies(std::uint32_t nodes, std::uint32_t width,
                                   std::uint32_t parents) {
  EdgeList edges;
  for (std::uint32_t node = width; node < nodes; ++node) {
    const std::uint32_t layer = node / width - 1;
    for (std::uint32_t i = 0; i < parents; ++i)
      edges.emplace_back(layer * width + (node + i) % width, node);
  }
  return manual_dependencies(nodes, std::move(edges));
}

Closure close(const LoweredGraph& graph) {
  Closure before(graph.nodes.size());
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (const LoweredEdge& edge : graph.edges_into(node)) {
      before[node] |= before[edge.from];
      before[node].set(edge.from);
    }
  }
  return before;
}

bool implies_all(const DependencyGraph& dependencies, const LoweredGraph& graph) {
  const Closure before = close(graph);
  return std::all_of(dependencies.edges.begin(), dependencies.edges.end(), [&](const Edge& edge) {
    return before[graph.node_of[edge.to]].test(graph.node_of[edge.from]);
  });
}

bool passes(const DependencyGraph& dependencies, const LoweredGraph& graph) {
  try {
    check_lowered_graph(dependencies, graph);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Internal || error.stage() != Stage::Lowering) throw;
    return false;
  }
}

}  // namespace reprise::test

// Manually built and random dependency graphs, and the transitive closure of a lowered graph by
// brute force; for tests of lowering and memory. Threads: pure functions.
#pragma once

#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::test {

using EdgeList = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // from < to

// Node i runs command i; the cause of all edges is Linear. Edges may be in any order, without
// duplicates.
[[nodiscard]] detail::DependencyGraph manual_dependencies(std::uint32_t nodes, EdgeList edges);

struct RandomDependenciesDesc {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 40;
  std::uint32_t edge_percent = 10;  // of all node pairs
};
[[nodiscard]] detail::DependencyGraph random_dependencies(const RandomDependenciesDesc& desc);

// A binary tree (node i follows (i - 1) / 2), and layers of `width` in which a node follows its
// counterpart and `parents` - 1 neighbours of the previous layer.
[[nodiscard]] detail::DependencyGraph tree_dependencies(std::uint32_t nodes);
[[nodiscard]] detail::DependencyGraph layer_dependencies(std::uint32_t nodes, std::uint32_t width,
                                                         std::uint32_t parents);

// before[b][a]: lowered node a is ordered before lowered node b. At most 128 nodes.
using Closure = std::vector<std::bitset<128>>;
[[nodiscard]] Closure close(const detail::LoweredGraph& graph);

// True if the closure contains every needed edge.
[[nodiscard]] bool implies_all(const detail::DependencyGraph& dependencies,
                               const detail::LoweredGraph& graph);

// True if check_lowered_graph() accepts the graph. Rethrows errors that it does not document.
[[nodiscard]] bool passes(const detail::DependencyGraph& dependencies,
                          const detail::LoweredGraph& graph);

}  // namespace reprise::test

// Graphs for layout tests: small hand-made ones, and random ones from a seed.
#pragma once

#include <cstdint>

#include "layout/layout_graph.hpp"
#include "layout/rank_order.hpp"

namespace reprise::test {

// Nodes of 80 x 30 points without edges.
[[nodiscard]] viewer::LayoutGraph graph_of(std::uint32_t nodes);
[[nodiscard]] viewer::LayoutGraph chain(std::uint32_t nodes);

struct RandomGraphDesc {
  std::uint32_t nodes = 0, edges = 0;
  std::uint32_t reach = 0xffffffffu;  // maximum distance of an edge in node numbers
  std::uint32_t seed = 0;
};
// Sizes and groups vary as well.
[[nodiscard]] viewer::LayoutGraph random_dag(const RandomGraphDesc& desc);
struct RandomLayersDesc {
  std::uint32_t layers = 0, width = 0;
  std::uint32_t edges_each = 0;  // edges per node to the next layer
  std::uint32_t seed = 0;
};
[[nodiscard]] viewer::LayoutGraph random_layers(const RandomLayersDesc& desc);
[[nodiscard]] viewer::LayoutGraph random_tree(std::uint32_t nodes, std::uint32_t seed);
// A chain with edges from its first half to the mirrored positions of the second; most of them span
// hundreds of ranks.
[[nodiscard]] viewer::LayoutGraph nested_chain(std::uint32_t nodes, std::uint32_t edges,
                                               std::uint32_t seed);

// Counts crossings pair by pair, with every segment expanded to one item per rank. Quadratic.
[[nodiscard]] std::uint64_t crossings_by_pairs(const viewer::LayeredGraph& graph,
                                               const viewer::RankOrder& order);

}  // namespace reprise::test

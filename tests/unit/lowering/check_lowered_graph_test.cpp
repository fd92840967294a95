#include <doctest/doctest.h>

#include "lowering/lowered_graph.hpp"
#include "support/manual_dependencies.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

LoweredGraph without_edge(const LoweredGraph& graph, std::uint32_t node, std::uint32_t index) {
  LoweredGraph result = graph;
  result.edges.erase(result.edges.begin() + graph.nodes[node].first_edge + index);
  --result.nodes[node].edge_count;
  for (std::uint32_t later = node + 1; later < result.nodes.size(); ++later)
    --result.nodes[later].first_edge;
  return result;
}

}  // namespace

TEST_CASE("lowering: the check agrees with the transitive closure when any edge is removed") {
  std::uint32_t kept = 0, broken = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const DependencyGraph dependencies =
        random_dependencies({.seed = seed,
                             .nodes = static_cast<std::uint32_t>(5 + seed),
                             .edge_percent = static_cast<std::uint32_t>(2 + seed % 9)});
    for (const Lowering lowering :
         {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(3), Lowering::Lanes(8)}) {
      const LoweredGraph graph = build_lowered_graph(dependencies, lowering);
      for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
        for (std::uint32_t i = 0; i < graph.nodes[node].edge_count; ++i) {
          const LoweredGraph less = without_edge(graph, node, i);
          const bool expected = implies_all(dependencies, less);
          ++(expected ? kept : broken);
          REQUIRE(passes(dependencies, less) == expected);
        }
      }
    }
  }
  CHECK(kept > 100);
  CHECK(broken > 100);
}

TEST_CASE("lowering: the check refuses a graph with a missing node or a wrong creation order") {
  const DependencyGraph dependencies = manual_dependencies(3, {{0, 1}, {1, 2}});
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Faithful);
  CHECK_FALSE(passes(dependencies,
                     build_lowered_graph(manual_dependencies(2, {{0, 1}}), Lowering::Faithful)));
  LoweredGraph backwards = graph;
  backwards.edges[0].from = 2;
  CHECK_FALSE(passes(dependencies, backwards));
  LoweredGraph swapped = graph;
  swapped.node_of[0] = 1;
  CHECK_FALSE(passes(dependencies, swapped));
}

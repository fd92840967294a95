#include "layout/collapse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

CollapseDesc collapsing(const LayoutGraph& graph, std::initializer_list<std::uint32_t> groups) {
  CollapseDesc desc{.collapsed = std::vector<bool>(graph.group_parent.size(), false),
                    .group_sizes = std::vector<Size>(graph.group_parent.size(), Size{120, 40})};
  for (const std::uint32_t g : groups) desc.collapsed[g] = true;
  return desc;
}

}  // namespace

TEST_CASE("collapse: a group becomes one node and its edges are counted") {
  // 0 and 1 are predecessors of both nodes of the group; 4 is their successor
  LayoutGraph graph = graph_of(5);
  graph.edges = {{0, 2}, {0, 3}, {1, 3}, {2, 3}, {2, 4}, {3, 4}};
  graph.group_parent = {kNoGroup};
  graph.node_group = {kNoGroup, kNoGroup, 0, 0, kNoGroup};
  const CollapsedGraph result = collapse(graph, collapsing(graph, {0}));
  CHECK(result.node_of == std::vector<std::uint32_t>{0, 1, 2, 2, 3});
  CHECK(result.group_of == std::vector<std::uint32_t>{kNoGroup, kNoGroup, 0, kNoGroup});
  CHECK(result.member_count == std::vector<std::uint32_t>{1, 1, 2, 1});
  CHECK(result.edge_multiplicity == std::vector<std::uint32_t>{2, 1, 2});
  CHECK(result.graph.sizes[2].width == 120);
  CHECK(result.graph.node_group[2] == kNoGroup);
}

TEST_CASE("collapse: groups inside a collapsed group disappear; its node belongs to its parent") {
  LayoutGraph graph = chain(4);
  graph.group_parent = {kNoGroup, 0, 1};
  graph.node_group = {0, 1, 2, 2};
  const CollapsedGraph result = collapse(graph, collapsing(graph, {1, 2}));
  CHECK(result.node_of == std::vector<std::uint32_t>{0, 1, 1, 1});
  CHECK(result.group_of[1] == 1);
  CHECK(result.graph.node_group == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("collapse: without chosen groups the graph is unchanged") {
  const LayoutGraph graph = random_dag({.nodes = 50, .edges = 80, .seed = 4});
  const CollapsedGraph result = collapse(graph, collapsing(graph, {}));
  CHECK(result.graph.node_count() == 50);
  CHECK(result.graph.node_group == graph.node_group);
  CHECK(std::accumulate(result.edge_multiplicity.begin(), result.edge_multiplicity.end(), 0u) ==
        80);
}

TEST_CASE("collapse: a group with a cyclic dependency becomes one node per turn") {
  LayoutGraph graph = chain(5);
  graph.group_parent = {kNoGroup};
  graph.node_group = {0, 0, kNoGroup, 0, 0};
  const CollapsedGraph result = collapse(graph, collapsing(graph, {0}));
  CHECK(result.node_of == std::vector<std::uint32_t>{0, 0, 1, 2, 2});
  CHECK(result.group_of == std::vector<std::uint32_t>{0, kNoGroup, 0});
}

TEST_CASE("collapse: random graphs stay acyclic and lose no edge between different nodes") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const LayoutGraph graph =
        random_dag({.nodes = 80, .edges = 60 + 4 * seed, .reach = 3 + seed, .seed = seed});
    const CollapsedGraph result = collapse(graph, collapsing(graph, {seed % 6, 5}));
    CHECK_NOTHROW(check_layout_graph(result.graph));
    std::uint32_t between = 0, wrong = 0;
    for (const LayoutEdge e : graph.edges) {
      const std::uint32_t from = result.node_of[e.from], to = result.node_of[e.to];
      if (from > to) ++wrong;
      if (from != to) ++between;
    }
    CHECK(wrong == 0);
    CHECK(std::accumulate(result.edge_multiplicity.begin(), result.edge_multiplicity.end(), 0u) ==
          between);
    CHECK(std::accumulate(result.member_count.begin(), result.member_count.end(), 0u) == 80);
    CHECK(result.graph.node_count() < 80);
  }
}

TEST_CASE("collapse: a description for other groups is rejected") {
  LayoutGraph graph = graph_of(1);
  graph.group_parent = {kNoGroup};
  CHECK_THROWS_AS(static_cast<void>(collapse(graph, {})), std::invalid_argument);
}

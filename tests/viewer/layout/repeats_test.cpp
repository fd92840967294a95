#include "layout/repeats.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "layout/collapse.hpp"
#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

std::vector<std::size_t> group_sizes(const std::vector<std::uint32_t>& groups) {
  std::vector<std::size_t> sizes;
  for (const std::uint32_t group : groups) {
    if (group == kNoGroup) continue;
    if (group >= sizes.size()) sizes.resize(group + 1, 0);
    ++sizes[group];
  }
  return sizes;
}

}  // namespace

TEST_CASE("repeats: a chain of equal nodes forms groups of equal size, and others end it") {
  std::vector<std::uint32_t> kinds(600, 0);
  CHECK(group_sizes(find_repeats(chain(600), {kinds})) == std::vector<std::size_t>{200, 200, 200});
  CHECK(group_sizes(find_repeats(chain(600), {kinds, 1'000})) == std::vector<std::size_t>{600});
  CHECK(group_sizes(find_repeats(chain(600), {kinds, 300})) == std::vector<std::size_t>{300, 300});
  kinds[100] = 1;
  kinds[103] = kNoGroup;
  const std::vector<std::uint32_t> groups = find_repeats(chain(600), {kinds});
  CHECK(group_sizes(groups) == std::vector<std::size_t>{100, 248, 248});
  for (std::uint32_t n = 100; n < 104; ++n) CHECK(groups[n] == kNoGroup);
}

TEST_CASE("repeats: equal nodes of a rank form a group if they are in the same group") {
  const LayoutGraph layers = random_layers({.layers = 5, .width = 8, .edges_each = 8, .seed = 2});
  CHECK(group_sizes(find_repeats(layers, {std::vector<std::uint32_t>(40, 0)})) ==
        std::vector<std::size_t>(5, 8));
  LayoutGraph labelled = layers;
  labelled.group_parent = {kNoGroup};
  labelled.node_group.assign(40, kNoGroup);
  for (std::uint32_t n = 0; n < 3; ++n) labelled.node_group[n] = 0;
  const std::vector<std::uint32_t> groups =
      find_repeats(labelled, {std::vector<std::uint32_t>(40, 0)});
  for (std::uint32_t n = 0; n < 3; ++n) CHECK(groups[n] == kNoGroup);
  CHECK(group_sizes(groups) == std::vector<std::size_t>{5, 8, 8, 8, 8});
}

TEST_CASE("repeats: collapsed groups of random graphs are one node each and the graph is acyclic") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    LayoutGraph graph = random_dag({.nodes = 400, .edges = 380, .reach = 60, .seed = seed});
    graph.node_group.clear();
    graph.group_parent.clear();
    std::mt19937 random(seed);
    std::vector<std::uint32_t> kinds(400);
    for (std::uint32_t& kind : kinds) kind = static_cast<std::uint32_t>(random() % 2);
    const std::vector<std::uint32_t> groups = find_repeats(graph, {kinds});
    const std::size_t count = group_sizes(groups).size();
    CHECK(count > 3);
    std::map<std::uint32_t, std::uint32_t> kind_of;
    for (std::uint32_t n = 0; n < 400; ++n) {
      if (groups[n] != kNoGroup)
        CHECK(kind_of.try_emplace(groups[n], kinds[n]).first->second == kinds[n]);
    }
    graph.node_group = groups;
    graph.group_parent.assign(count, kNoGroup);
    const CollapsedGraph collapsed =
        collapse(graph, {.collapsed = std::vector<bool>(count, true),
                         .group_sizes = std::vector<Size>(count, {80, 30})});
    const auto single =
        static_cast<std::size_t>(std::count(groups.begin(), groups.end(), kNoGroup));
    CHECK(collapsed.graph.node_count() == single + count);
    check_layout_graph(collapsed.graph);
  }
}

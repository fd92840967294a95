// Tests of ranks, long edges, components, the segment list, packing and groups.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "layout/components.hpp"
#include "layout/groups.hpp"
#include "layout/layered_graph.hpp"
#include "layout/packing.hpp"
#include "layout/ranks.hpp"
#include "layout/segment_list.hpp"
#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

}  // namespace

TEST_CASE("ranks: every edge leads to a larger rank, and the smallest is 0") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const LayoutGraph graph = random_dag({.nodes = 150, .edges = 100 + 10 * seed, .seed = seed});
    const std::vector<std::uint32_t> ranks = assign_ranks(graph);
    CHECK(std::all_of(graph.edges.begin(), graph.edges.end(),
                      [&](LayoutEdge e) { return ranks[e.from] < ranks[e.to]; }));
    CHECK(*std::min_element(ranks.begin(), ranks.end()) == 0);
  }
}

TEST_CASE("ranks: a source is directly above its successor") {
  LayoutGraph graph = chain(6);
  graph.sizes.push_back({80, 30});
  for (LayoutEdge& e : graph.edges) e = {e.from + 1, e.to + 1};
  graph.edges.push_back({0, 6});
  CHECK(assign_ranks(graph)[0] == 4);
}

TEST_CASE("ranks: the order of the edges does not matter") {
  LayoutGraph graph = chain(10);
  std::reverse(graph.edges.begin(), graph.edges.end());
  const std::vector<std::uint32_t> ranks = assign_ranks(graph);
  for (std::uint32_t n = 0; n < 10; ++n) CHECK(ranks[n] == n);
}

TEST_CASE(
    "layered graph: links connect adjacent ranks, and each edge is a chain from node to node") {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const LayoutGraph graph = seed % 2 == 0
                                  ? nested_chain(300, 250, seed)
                                  : random_dag({.nodes = 100, .edges = 300, .seed = seed});
    const LayeredGraph g = build_layered_graph(graph, assign_ranks(graph));
    for (std::uint32_t l = 0; l < g.link_count(); ++l)
      REQUIRE(g.rank[g.link_from[l]] + 1 == g.rank[g.link_to[l]]);
    for (const LayeredGraph::Segment s : g.segments) REQUIRE(g.rank[s.head] + 1 < g.rank[s.tail]);
    for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
      CHECK(g.chain(e).front() == graph.edges[e].from);
      CHECK(g.chain(e).back() == graph.edges[e].to);
    }
    CHECK(g.segments.empty() == (seed % 2 != 0));
  }
}

TEST_CASE("layered graph: bends stay within the budget for edges of any length") {
  const LayoutGraph graph = nested_chain(4000, 4000, 1);
  const LayeredGraph g = build_layered_graph(graph, assign_ranks(graph));
  CHECK(g.rank_count == 4000);
  CHECK(g.item_count() - g.node_count <= bend_budget(graph.node_count(), graph.edge_count()));
}

TEST_CASE("components: they keep the order of their nodes and their original indices") {
  LayoutGraph graph = graph_of(6);
  graph.node_lane = {0, 1, 2, 3, 4, 5};
  graph.edges = {{1, 4}, {0, 2}, {2, 5}};
  const std::vector<Component> parts = components_of(graph);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].nodes == std::vector<std::uint32_t>{0, 2, 5});
  CHECK(parts[0].edges == std::vector<std::uint32_t>{1, 2});
  CHECK(parts[1].nodes == std::vector<std::uint32_t>{1, 4});
  CHECK(parts[1].graph.node_lane == std::vector<std::uint32_t>{1, 4});
  CHECK(parts[1].graph.edges[0].to == 1);
  CHECK(parts[2].nodes == std::vector<std::uint32_t>{3});
}

TEST_CASE("segment list: positions equal those of a plain list") {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    SegmentList list(2000);
    std::vector<std::uint32_t> plain;
    for (std::uint32_t s = 0; s < 2000; ++s) {
      const auto place = static_cast<std::uint32_t>(random() % (plain.size() + 1));
      list.insert(place, s);
      plain.insert(plain.begin() + place, s);
      if (random() % 3 == 0) {
        const std::uint32_t gone = plain[random() % plain.size()];
        list.erase(gone);
        plain.erase(std::find(plain.begin(), plain.end(), gone));
      }
    }
    REQUIRE(list.size() == plain.size());
    for (std::uint32_t i = 0; i < plain.size(); ++i) {
      REQUIRE(list.at(i) == plain[i]);
      REQUIRE(list.place_of(plain[i]) == i);
    }
    while (!plain.empty()) {
      list.erase(plain.back());
      plain.pop_back();
    }
    CHECK(list.size() == 0);
    list.insert(0, 5);
    CHECK(list.place_of(5) == 0);
  }
}

TEST_CASE("packing: shelves do not overlap") {
  const std::vector<Size> sizes = {{100, 10}, {50, 40}, {60, 20}, {200, 5}};
  const std::vector<Point> corners = pack(sizes, {.gap = 4, .aspect = 1});
  REQUIRE(corners.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    const bool beside = corners[i].y == corners[i - 1].y &&
                        corners[i].x == corners[i - 1].x + sizes[i - 1].width + 4;
    const bool below =
        corners[i].x == 0 && corners[i].y >= corners[i - 1].y + sizes[i - 1].height + 4;
    CHECK((beside || below));
  }
}

TEST_CASE("groups: a rectangle contains its nodes and inner groups; an empty group is all zero") {
  LayoutGraph graph = graph_of(3);
  graph.group_parent = {kNoGroup, 0, kNoGroup};
  graph.node_group = {1, 0, kNoGroup};
  const std::vector<Rect> rects = group_rectangles(graph, {{40, 15}, {240, 15}, {400, 15}}, 5);
  REQUIRE(rects.size() == 3);
  CHECK(rects[1].left == -5);
  CHECK(rects[1].right == 85);
  CHECK(rects[0].left == -10);
  CHECK(rects[0].right == 285);
  CHECK(rects[0].bottom == 40);
  CHECK(rects[2].width() == 0);
}

#include "lowering/lowered_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <reprise/error.hpp>

#include "lowering/list_schedule.hpp"
#include "support/manual_dependencies.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

std::uint32_t count_origin(const LoweredGraph& graph, EdgeOrigin origin) {
  return static_cast<std::uint32_t>(
      std::count_if(graph.edges.begin(), graph.edges.end(),
                    [&](const LoweredEdge& e) { return e.origin == origin; }));
}

std::vector<std::uint32_t> parents(const LoweredGraph& graph, std::uint32_t node) {
  std::vector<std::uint32_t> from;
  for (const LoweredEdge& edge : graph.edges_into(node)) from.push_back(edge.from);
  return from;
}

bool is_topological(const LoweredGraph& graph) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (const LoweredEdge& edge : graph.edges_into(node)) {
      if (edge.from >= node) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("lowering: Faithful keeps nodes and edges unchanged") {
  const DependencyGraph dependencies = layer_dependencies(12, 4, 3);
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Faithful);
  REQUIRE(graph.nodes.size() == 12);
  CHECK(graph.lanes == 0);
  CHECK_FALSE(graph.entry_exit.any());
  CHECK(graph.added_edges == 0);
  REQUIRE(graph.edges.size() == dependencies.edges.size());
  for (std::uint32_t node = 0; node < 12; ++node) {
    CHECK(graph.node_of[node] == node);
    const auto needed = dependencies.edges_into(node);
    const auto lowered = graph.edges_into(node);
    REQUIRE(lowered.size() == needed.size());
    for (std::size_t i = 0; i < needed.size(); ++i) CHECK(lowered[i].from == needed[i].from);
  }
}

TEST_CASE("lowering: under Auto a chain gets no entry, no exit and no added edges") {
  const LoweredGraph graph =
      build_lowered_graph(manual_dependencies(3, {{0, 1}, {1, 2}}), Lowering::Auto);
  CHECK(graph.nodes.size() == 3);
  CHECK_FALSE(graph.entry_exit.any());
  CHECK(graph.added_edges == 0);
}

TEST_CASE("lowering: an empty recording gives an empty graph under every lowering") {
  const DependencyGraph empty = manual_dependencies(0, {});
  for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(4)}) {
    const LoweredGraph graph = build_lowered_graph(empty, lowering);
    CHECK(graph.nodes.empty());
    CHECK_FALSE(graph.entry_exit.any());
    CHECK_NOTHROW(check_lowered_graph(empty, graph));
  }
}

TEST_CASE("lowering: the entry is created first, and each root follows it") {
  const LoweredGraph graph =
      build_lowered_graph(manual_dependencies(3, {{0, 2}, {1, 2}}), Lowering::Auto);
  REQUIRE(graph.nodes.size() == 4);
  CHECK(graph.nodes.front().kind == LoweredKind::Entry);
  CHECK(parents(graph, 1) == std::vector<std::uint32_t>{0});
  CHECK(parents(graph, 2) == std::vector<std::uint32_t>{0});
  CHECK(parents(graph, 3) == std::vector<std::uint32_t>{1, 2});
  CHECK(graph.added_edges == 2);
  CHECK(count_origin(graph, EdgeOrigin::EntryExit) == 2);
}

TEST_CASE("lowering: the exit is created last, in the lane of the leaf that was created last") {
  const LoweredGraph graph = build_lowered_graph(
      manual_dependencies(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {0, 8}}),
      Lowering::Auto);
  REQUIRE(graph.nodes.size() == 10);
  CHECK(graph.nodes.back().kind == LoweredKind::Exit);
  CHECK(parents(graph, 9) == std::vector<std::uint32_t>{8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(parents(graph, 0).empty());
}

TEST_CASE("lowering: under Auto a graph within the lane limit keeps exactly its needed edges") {
  const DependencyGraph dependencies = layer_dependencies(320, 32, 3);
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Auto);
  CHECK(graph.lanes == 0);
  CHECK(count_origin(graph, EdgeOrigin::Needed) == dependencies.edges.size());
  CHECK(count_origin(graph, EdgeOrigin::Lane) == 0);
  CHECK(count_origin(graph, EdgeOrigin::EntryExit) == 64);
}

TEST_CASE("lowering: under Auto the nodes of a full layer have different first parents") {
  const LoweredGraph graph = build_lowered_graph(layer_dependencies(12, 4, 4), Lowering::Auto);
  for (std::uint32_t layer = 1; layer < 3; ++layer) {
    std::vector<std::uint32_t> first;
    for (std::uint32_t i = 0; i < 4; ++i)
      first.push_back(graph.edges_into(1 + layer * 4 + i).front().from);
    std::sort(first.begin(), first.end());
    CHECK(std::adjacent_find(first.begin(), first.end()) == first.end());
  }
}

TEST_CASE("lowering: under Auto a graph wider than 128 runs in 128 lanes") {
  const LoweredGraph graph = build_lowered_graph(manual_dependencies(1000, {}), Lowering::Auto);
  CHECK(graph.lanes == 128);
  CHECK(graph.entry_exit == EntryExit{.entry = true, .exit = true});
  CHECK(count_origin(graph, EdgeOrigin::Lane) == 1000 - 128);
  CHECK(count_origin(graph, EdgeOrigin::EntryExit) == 256);
}

TEST_CASE("lowering: lanes are filled evenly") {
  const LaneAssignment lanes = assign_lanes(manual_dependencies(1000, {}), 128);
  std::vector<std::uint32_t> nodes(128, 0);
  for (const std::uint32_t lane : lanes.lane) ++nodes[lane];
  const auto [smallest, largest] = std::minmax_element(nodes.begin(), nodes.end());
  CHECK(*smallest == 7);
  CHECK(*largest == 8);
}

TEST_CASE("lowering: the node with the longest path to a leaf is created first") {
  // 0 -> 3 -> 4 is the critical path; 1 and 2 are alone.
  const LaneAssignment lanes = assign_lanes(manual_dependencies(5, {{0, 3}, {3, 4}}), 2);
  CHECK(lanes.order == std::vector<std::uint32_t>{0, 3, 4, 1, 2});
}

TEST_CASE("lowering: a node continues its parent's lane") {
  const LaneAssignment lanes = assign_lanes(manual_dependencies(4, {{0, 2}, {1, 3}}), 2);
  CHECK(lanes.lane[2] == lanes.lane[0]);
  CHECK(lanes.lane[3] == lanes.lane[1]);
}

TEST_CASE("lowering: the lane edge is the first edge of a node") {
  const DependencyGraph dependencies = tree_dependencies(255);
  const LaneAssignment lanes = assign_lanes(dependencies, 8);
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Lanes(8));
  for (std::uint32_t node = 0; node < 255; ++node) {
    if (lanes.before[node] == kNone) continue;
    CHECK(graph.edges_into(graph.node_of[node]).front().from == graph.node_of[lanes.before[node]]);
  }
}

TEST_CASE("lowering: one lane makes a chain without entry and exit") {
  const DependencyGraph dependencies = layer_dependencies(40, 8, 2);
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Lanes(1));
  CHECK(graph.lanes == 1);
  CHECK_FALSE(graph.entry_exit.any());
  CHECK(graph.edges.size() == 39);
  CHECK_NOTHROW(check_lowered_graph(dependencies, graph));
}

TEST_CASE("lowering: more lanes than nodes add no lane edges") {
  const LoweredGraph graph =
      build_lowered_graph(layer_dependencies(40, 8, 1), Lowering::Lanes(65535));
  CHECK(graph.lanes == 8);
  CHECK(count_origin(graph, EdgeOrigin::Lane) == 0);
}

TEST_CASE("lowering: 0 and 65,536 lanes are refused") {
  for (const std::uint32_t lanes : {0u, 65536u}) {
    try {
      (void)build_lowered_graph(manual_dependencies(1, {}), Lowering::Lanes(lanes));
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::InvalidArgument);
      CHECK(error.stage() == Stage::Lowering);
    }
  }
}

TEST_CASE(
    "lowering: the width bound counts roots, leaves, layers, and the children and parents of one "
    "node") {
  CHECK(width_lower_bound(manual_dependencies(0, {})) == 0);
  CHECK(width_lower_bound(manual_dependencies(3, {{0, 1}, {1, 2}})) == 1);
  CHECK(width_lower_bound(manual_dependencies(7, {})) == 7);
  CHECK(width_lower_bound(layer_dependencies(40, 8, 2)) == 8);
  // A comb: each node of a chain has a leaf; no depth has two leaves.
  CHECK(width_lower_bound(manual_dependencies(6, {{0, 1}, {0, 2}, {2, 3}, {2, 4}, {4, 5}})) == 3);
  // A chain in which all nodes lead to the last.
  CHECK(width_lower_bound(manual_dependencies(4, {{0, 3}, {1, 3}, {2, 3}})) == 3);
}

TEST_CASE(
    "lowering: random graphs imply all needed edges, are topological, and have at most k lanes, "
    "which are chains") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const auto nodes = static_cast<std::uint32_t>(1 + seed * 7 % 80);
    const DependencyGraph dependencies = random_dependencies(
        {.seed = seed, .nodes = nodes, .edge_percent = static_cast<std::uint32_t>(seed % 13)});
    for (const std::uint32_t k : {0u, 1u, 2u, 3u, 8u, 128u}) {
      CAPTURE(k);
      const LoweredGraph graph =
          build_lowered_graph(dependencies, k == 0 ? Lowering::Auto : Lowering::Lanes(k));
      REQUIRE(is_topological(graph));
      REQUIRE(implies_all(dependencies, graph));
      REQUIRE_NOTHROW(check_lowered_graph(dependencies, graph));
      REQUIRE(graph.added_edges == graph.edges.size() - count_origin(graph, EdgeOrigin::Needed));
      if (k == 0) continue;
      REQUIRE(graph.lanes <= k);
      const Closure before = close(graph);
      std::vector<std::uint32_t> last(k, kNone);
      for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
        const std::uint32_t lane = graph.nodes[node].lane;
        REQUIRE(lane < k);
        if (last[lane] != kNone) REQUIRE(before[node].test(last[lane]));
        last[lane] = node;
      }
    }
  }
}

TEST_CASE("lowering: every entry or exit edge leads from the entry or to the exit") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const DependencyGraph dependencies =
        random_dependencies({.seed = seed, .nodes = 60, .edge_percent = 4});
    const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Lanes(12));
    REQUIRE(graph.entry_exit == EntryExit{.entry = true, .exit = true});
    const Closure before = close(graph);
    CHECK(before.back().count() == graph.nodes.size() - 1);
    for (std::uint32_t node = 1; node < graph.nodes.size(); ++node) {
      CHECK(before[node].test(0));
      for (const LoweredEdge& edge : graph.edges_into(node)) {
        if (edge.origin == EdgeOrigin::EntryExit)
          CHECK((edge.from == 0 || node + 1 == graph.nodes.size()));
      }
    }
  }
}

TEST_CASE("lowering: no needed edge remains that lanes and other edges imply") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (const std::uint32_t lanes : {1u, 2u, 5u, 16u}) {
      CAPTURE(seed);
      CAPTURE(lanes);
      const DependencyGraph dependencies =
          random_dependencies({.seed = seed, .nodes = 100, .edge_percent = 4});
      const LoweredGraph graph = build_lanes(dependencies, assign_lanes(dependencies, lanes));
      CHECK(implies_all(dependencies, graph));
      const Closure before = close(graph);
      std::uint32_t redundant_edges = 0;
      for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
        for (const LoweredEdge& edge : graph.edges_into(node)) {
          const auto edges = graph.edges_into(node);
          const bool by_another =
              std::any_of(edges.begin(), edges.end(),
                          [&](const LoweredEdge& other) { return before[other.from][edge.from]; });
          const bool is_lanes_own =
              graph.nodes[edge.from].lane == graph.nodes[node].lane;  // always kept, and first
          if (edge.origin == EdgeOrigin::Needed && by_another && !is_lanes_own) ++redundant_edges;
        }
      }
      CHECK(redundant_edges == 0);
    }
  }
}

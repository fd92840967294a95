#include "lowering/entry_exit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "lowering/list_schedule.hpp"
#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "support/manual_dependencies.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

// Node `roots` between `roots` nodes before it and `leaves` nodes after it. 0: the node itself is
// the root or the leaf.
DependencyGraph star(std::uint32_t roots, std::uint32_t leaves) {
  EdgeList edges;
  for (std::uint32_t i = 0; i < roots; ++i) edges.emplace_back(i, roots);
  for (std::uint32_t i = 0; i < leaves; ++i) edges.emplace_back(roots, roots + 1 + i);
  return manual_dependencies(roots + 1 + leaves, edges);
}

// Checks that entry and exit nodes exist as expected and that their edges lead to each root kernel
// and from each leaf kernel.
void check_entry_exit(const DependencyGraph& dependencies, const LoweredGraph& graph,
                      EntryExit expected) {
  CHECK(graph.entry_exit == expected);
  const std::size_t extra = (expected.entry ? 1u : 0u) + (expected.exit ? 1u : 0u);
  REQUIRE(graph.nodes.size() == dependencies.node_count() + extra);
  CHECK((graph.nodes.front().kind == LoweredKind::Entry) == expected.entry);
  CHECK((graph.nodes.back().kind == LoweredKind::Exit) == expected.exit);
  CHECK_NOTHROW(check_lowered_graph(dependencies, graph));
  std::vector<std::uint8_t> is_leaf(graph.nodes.size(), 1);
  for (const LoweredEdge& edge : graph.edges) is_leaf[edge.from] = 0;
  const auto runs_kernel = [&](std::uint32_t node) {
    return graph.works.empty() || is_kernel(graph.works[graph.nodes[node].dependency_node]);
  };
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    const auto edges = graph.edges_into(node);
    for (const LoweredEdge& edge : edges) {
      const bool from_begin = expected.entry && edge.from == 0,
                 to_end = expected.exit && node + 1 == graph.nodes.size();
      CHECK((edge.origin == EdgeOrigin::EntryExit) == (from_begin || to_end));
      if (edge.origin == EdgeOrigin::EntryExit) CHECK(runs_kernel(from_begin ? node : edge.from));
    }
    if (graph.nodes[node].kind != LoweredKind::Work || !runs_kernel(node)) continue;
    if (expected.entry) CHECK_FALSE(edges.empty());
    if (expected.exit) CHECK_FALSE(is_leaf[node]);
  }
}

}  // namespace

TEST_CASE("entry/exit: several roots and few leaves get only an entry kernel") {
  for (const std::uint32_t roots : {2u, 3u, 40u}) {
    CAPTURE(roots);
    const DependencyGraph dependencies = star(roots, 7);
    const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Auto);
    check_entry_exit(dependencies, graph, {.entry = true, .exit = false});
    CHECK(graph.added_edges == roots);
  }
}

TEST_CASE("entry/exit: one root and many leaves get only an exit kernel") {
  for (const std::uint32_t leaves : {8u, 9u, 40u}) {
    CAPTURE(leaves);
    const DependencyGraph dependencies = star(0, leaves);
    const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Auto);
    check_entry_exit(dependencies, graph, {.entry = false, .exit = true});
    CHECK(graph.added_edges == leaves);
  }
}

TEST_CASE(
    "entry/exit: several roots and many leaves get both; one root and few leaves get neither") {
  check_entry_exit(star(2, 8), build_lowered_graph(star(2, 8), Lowering::Auto),
                   {.entry = true, .exit = true});
  check_entry_exit(star(0, 7), build_lowered_graph(star(0, 7), Lowering::Auto), {});
  check_entry_exit(star(1, 7), build_lowered_graph(star(1, 7), Lowering::Auto), {});
  check_entry_exit(tree_dependencies(10),
                   build_lowered_graph(tree_dependencies(10), Lowering::Auto), {});
}

TEST_CASE("entry/exit: copies, fills and callbacks do not count and get no added edges") {
  const DependencyGraph dependencies = star(4, 20);
  NodeHints hints;
  hints.works.assign(25, NodeWork::Kernel);
  const auto check = [&](EntryExit expected) {
    check_entry_exit(dependencies, build_lowered_graph(dependencies, Lowering::Auto, hints),
                     expected);
  };
  check({.entry = true, .exit = true});
  hints.works[0] = hints.works[1] = hints.works[24] = NodeWork::Fill;
  check({.entry = true, .exit = true});
  hints.works[2] = NodeWork::Fill;  // one kernel remains
  check({.entry = false, .exit = true});
  std::fill(hints.works.begin() + 5, hints.works.end() - 7, NodeWork::Fill);
  check({});
  hints.works.assign(25, NodeWork::Kernel);
  hints.works[4] = NodeWork::Other;  // inner nodes do not count
  check({.entry = true, .exit = true});
}

TEST_CASE("entry/exit: the threshold is higher beside copies") {
  for (const bool has_enough : {false, true}) {
    CAPTURE(has_enough);
    const std::uint32_t roots = has_enough ? 9 : 8,
                        leaves = has_enough ? 17 : 16;  // one of each is a copy
    const DependencyGraph dependencies = star(roots, leaves);
    NodeHints hints;
    hints.works.assign(dependencies.node_count(), NodeWork::Kernel);
    hints.works.front() = hints.works.back() = NodeWork::Other;
    check_entry_exit(dependencies, build_lowered_graph(dependencies, Lowering::Auto, hints),
                     {.entry = has_enough, .exit = has_enough});
  }
}

TEST_CASE("entry/exit: kernels that fill the GPU hide the cost of few roots and leaves") {
  for (const std::uint32_t width : {3u, 23u, 24u, 30u}) {
    CAPTURE(width);
    const DependencyGraph dependencies = manual_dependencies(width, {});
    NodeHints hints;
    hints.works.assign(width, NodeWork::FullKernel);
    check_entry_exit(dependencies, build_lowered_graph(dependencies, Lowering::Auto, hints),
                     {.entry = width >= 24, .exit = width >= 24});
  }
}

TEST_CASE("entry/exit: a command's work is classified by kind and thread count") {
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 64);
  DispatchPayload small{}, full{};
  small.grid = {2};
  small.block = {1024};
  full.grid = {256};
  full.block = {1024};
  build.dispatch("small", small, std::array{build.read_write(x)});
  build.dispatch("full", full, std::array{build.read_write(x)});
  build.fill(build.write(x));
  build.host({build.read(x)});
  const RecordingPtr recording = build.finish();
  const DependencyGraph dependencies = build_dependencies(*recording);
  CHECK(node_works(*recording, dependencies) ==
        std::vector<NodeWork>{NodeWork::Kernel, NodeWork::FullKernel, NodeWork::Fill,
                              NodeWork::Other});
  CHECK(hints_of(*recording, dependencies).works == node_works(*recording, dependencies));
}

TEST_CASE("entry/exit: every lowering except Faithful uses the same rule") {
  const DependencyGraph dependencies = star(3, 20);
  NodeHints hints;
  hints.works.assign(24, NodeWork::Kernel);
  hints.costs.assign(24, 2000);
  check_entry_exit(dependencies, build_lowered_graph(dependencies, Lowering::Faithful, hints), {});
  for (const auto shape : {LoweringConfig::Shape::EntryExit, LoweringConfig::Shape::Lanes,
                           LoweringConfig::Shape::CostBased}) {
    CAPTURE(static_cast<int>(shape));
    const LoweringConfig config{.shape = shape, .lanes = 20, .costs = hints.costs};
    check_entry_exit(dependencies, build_lowered_graph(dependencies, config, hints),
                     {.entry = true, .exit = true});
    NodeHints copies = hints;
    std::fill(copies.works.begin() + 4, copies.works.end(), NodeWork::Other);
    check_entry_exit(dependencies, build_lowered_graph(dependencies, config, copies),
                     {.entry = true, .exit = false});
  }
}

TEST_CASE("entry/exit: lanes count by their first and last nodes") {
  const DependencyGraph dependencies = manual_dependencies(32, {});
  CHECK(build_lowered_graph(dependencies, Lowering::Lanes(1)).entry_exit == EntryExit{});
  CHECK(build_lowered_graph(dependencies, Lowering::Lanes(7)).entry_exit ==
        EntryExit{.entry = true, .exit = false});
  CHECK(build_lowered_graph(dependencies, Lowering::Lanes(8)).entry_exit ==
        EntryExit{.entry = true, .exit = true});
  const LaneAssignment assignment = assign_lanes(dependencies, 8);
  std::vector<NodeWork> works(32, NodeWork::Kernel);
  for (std::uint32_t node = 0; node < 32; ++node) {
    const bool is_inside =
        assignment.before[node] != kNone &&
        std::count(assignment.before.begin(), assignment.before.end(), node) != 0;
    if (is_inside) works[node] = NodeWork::Other;
  }
  CHECK(build_lanes(dependencies, assignment, works).entry_exit ==
        EntryExit{.entry = true, .exit = true});
  for (std::uint32_t node = 0; node < 32; ++node) {
    if (assignment.before[node] == kNone) works[node] = NodeWork::Other;
  }
  CHECK(build_lanes(dependencies, assignment, works).entry_exit ==
        EntryExit{.entry = false, .exit = true});
}

TEST_CASE("entry/exit: without an exit each lane ends by itself; an entry precedes all lanes") {
  const DependencyGraph dependencies = layer_dependencies(60, 6, 2);
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Lanes(3));
  REQUIRE(graph.entry_exit == EntryExit{.entry = true, .exit = false});
  CHECK(graph.lanes == 3);
  std::vector<std::uint32_t> first(3, kNone);
  for (std::uint32_t node = 1; node < graph.nodes.size(); ++node) {
    const std::uint32_t lane = graph.nodes[node].lane;
    REQUIRE(lane < 3);
    if (first[lane] == kNone) first[lane] = node;
  }
  for (const std::uint32_t node : first) {
    REQUIRE(graph.edges_into(node).size() == 1);
    CHECK(graph.edges_into(node).front().origin == EdgeOrigin::EntryExit);
  }
}

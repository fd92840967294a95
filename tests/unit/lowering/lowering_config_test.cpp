#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "lowering/node_attributes.hpp"
#include "lowering/tuning_candidates.hpp"
#include "support/manual_dependencies.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::uint32_t early_edges(const LoweredGraph& graph) {
  return static_cast<std::uint32_t>(
      std::count_if(graph.edges.begin(), graph.edges.end(),
                    [](const LoweredEdge& edge) { return edge.strength == EdgeStrength::Early; }));
}

}  // namespace

TEST_CASE(
    "lowering choice: Auto takes fewer lanes where costs are known, and a frame where lanes would "
    "not be fewer") {
  const DependencyGraph dependencies = manual_dependencies(200, {});
  NodeHints hints;
  CHECK(automatic_config(dependencies, hints).shape == LoweringConfig::Shape::Lanes);
  hints.costs.assign(200, 2000);
  const LoweringConfig costed = automatic_config(dependencies, hints);
  CHECK(costed.shape == LoweringConfig::Shape::CostBased);
  CHECK(costed.lanes == 32);
  CHECK(build_lowered_graph(dependencies, Lowering::Auto, hints).lanes == 32);
  hints.costs.assign(6, 2000);
  CHECK(automatic_config(manual_dependencies(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}),
                         hints)
            .shape == LoweringConfig::Shape::EntryExit);
}

TEST_CASE("lowering choice: costs change nothing of Faithful and Lanes(k)") {
  const DependencyGraph dependencies = layer_schedule(32, 8, 2);
  NodeHints hints;
  hints.costs.assign(32, 700);
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Lanes(3)}) {
    const LoweredGraph with = build_lowered_graph(dependencies, lowering, hints),
                       without = build_lowered_graph(dependencies, lowering);
    REQUIRE(with.edges.size() == without.edges.size());
    CHECK(std::equal(with.edges.begin(), with.edges.end(), without.edges.begin(),
                     [](const LoweredEdge& a, const LoweredEdge& b) { return a.from == b.from; }));
  }
}

TEST_CASE(
    "lowering choice: a kernel starts early where it says that it waits, and everything before it "
    "is a kernel") {
  const DependencyGraph dependencies = manual_dependencies(4, {{0, 1}, {1, 2}, {2, 3}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Programmatic, NodeStart::NoKernel, NodeStart::Programmatic};
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Auto, hints);
  CHECK(graph.edges_into(graph.node_of[1]).front().strength == EdgeStrength::Early);
  CHECK(graph.edges_into(graph.node_of[2]).front().strength == EdgeStrength::Full);
  CHECK(graph.edges_into(graph.node_of[3]).front().strength ==
        EdgeStrength::Full);  // after what is no kernel
  CHECK(early_edges(build_lowered_graph(dependencies, Lowering::Faithful, hints)) == 0);
  CHECK(may_start_programmatically_as(graph, hints));
  hints.starts[1] = NodeStart::Ordered;
  CHECK_FALSE(may_start_programmatically_as(graph, hints));
  CHECK_FALSE(may_start_programmatically_as(graph, {}));
}

TEST_CASE("lowering choice: a node starts early after all of its parents or after none") {
  const DependencyGraph dependencies = manual_dependencies(3, {{0, 2}, {1, 2}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Ordered, NodeStart::Programmatic};
  CHECK(early_edges(build_lowered_graph(dependencies, Lowering::Auto, hints)) == 2);
  hints.starts[0] = NodeStart::NoKernel;
  CHECK(early_edges(build_lowered_graph(dependencies, Lowering::Auto, hints)) == 0);
}

TEST_CASE("lowering choice: the longer the way to go, the more urgent") {
  const DependencyGraph dependencies =
      manual_dependencies(5, {{0, 1}, {1, 2}});  // two nodes alone beside three
  const LoweredGraph graph =
      build_lowered_graph(dependencies,
                          LoweringConfig{.shape = LoweringConfig::Shape::EntryExit,
                                         .priorities = LoweringConfig::Priorities::LongestWayFirst},
                          {});
  CHECK(graph.nodes[graph.node_of[0]].priority == kMostUrgent);
  CHECK(graph.nodes[graph.node_of[1]].priority < kMostUrgent);
  CHECK(graph.nodes[graph.node_of[2]].priority == graph.nodes[graph.node_of[3]].priority);
  CHECK(graph.nodes.front().priority == 0);  // of the frame
}

TEST_CASE("tuning choices: each is legal, has a name of its own, and none is there twice") {
  const DependencyGraph dependencies = layer_schedule(120, 12, 3);
  NodeHints hints;
  hints.costs.assign(120, 3000);
  hints.starts.assign(120, NodeStart::Programmatic);
  const std::vector<LoweringConfig> choices =
      tuning_candidates(dependencies, hints, DevicePriorities::Yes);
  std::vector<std::string> names;
  for (const LoweringConfig& choice : choices) {
    const LoweredGraph graph = build_lowered_graph(dependencies, choice, hints);
    CHECK_NOTHROW(check_lowered_graph(dependencies, graph));
    names.push_back(name_of(choice));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 16 by cost") != names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 64") ==
        names.end());  // no more than it is wide
}

TEST_CASE(
    "tuning choices: without costs nothing is by cost, and a device without priorities gets none") {
  const DependencyGraph dependencies = layer_schedule(120, 12, 3);
  for (const LoweringConfig& choice : tuning_candidates(dependencies, {}, DevicePriorities::No)) {
    CHECK(choice.shape != LoweringConfig::Shape::CostBased);
    CHECK(choice.priorities == LoweringConfig::Priorities::Same);
    CHECK(choice.starts == LoweringConfig::Starts::Declared);
  }
}

TEST_CASE(
    "lowering choice: costs alone give fewer lanes only where many nodes wait for several others, "
    "or more could not be had") {
  NodeHints hints;
  // Forks into 50 that one node joins: by measurement no number of lanes is better than the frame,
  // and some are worse.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forks;
  for (std::uint32_t i = 0; i < 50; ++i) {
    forks.emplace_back(0, 1 + i);
    forks.emplace_back(1 + i, 51);
  }
  hints.costs.assign(52, 500);
  CHECK(automatic_config(manual_dependencies(52, forks), hints).shape ==
        LoweringConfig::Shape::EntryExit);
  // Layers in which each waits for three.
  const DependencyGraph layers = layer_schedule(400, 50, 3);
  hints.costs.assign(400, 500);
  const LoweringConfig choice = automatic_config(layers, hints);
  CHECK(choice.shape == LoweringConfig::Shape::CostBased);
  CHECK(choice.lanes < 50);
  CHECK(build_lowered_graph(layers, Lowering::Auto, hints).by_cost);
  CHECK_FALSE(build_lowered_graph(layers, Lowering::Auto).by_cost);
}

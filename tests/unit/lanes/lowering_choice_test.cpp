#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "lanes/finishing.hpp"
#include "lanes/lowered_graph.hpp"
#include "lanes/lowering_choice.hpp"
#include "lanes/tuning_choices.hpp"
#include "support/hand_schedule.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::uint32_t early_edges(const LoweredGraph& graph) {
  return static_cast<std::uint32_t>(
      std::count_if(graph.edges.begin(), graph.edges.end(), [](const LoweredEdge& edge) { return edge.strength == EdgeStrength::Early; }));
}

}  // namespace

TEST_CASE("lowering choice: Auto takes fewer lanes where costs are known, and a frame where lanes would not be fewer") {
  const Schedule schedule = hand_schedule(200, {});
  NodeHints hints;
  CHECK(automatic_choice(schedule, hints).shape == LoweringChoice::Shape::Lanes);
  hints.costs.assign(200, 2000);
  const LoweringChoice costed = automatic_choice(schedule, hints);
  CHECK(costed.shape == LoweringChoice::Shape::Costed);
  CHECK(costed.lanes == 32);
  CHECK(build_lowered_graph(schedule, Lowering::Auto, hints).lanes == 32);
  hints.costs.assign(6, 2000);
  CHECK(automatic_choice(hand_schedule(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}), hints).shape == LoweringChoice::Shape::Framed);
}

TEST_CASE("lowering choice: costs change nothing of Faithful and Lanes(k)") {
  const Schedule schedule = layer_schedule(32, 8, 2);
  NodeHints hints;
  hints.costs.assign(32, 700);
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Lanes(3)}) {
    const LoweredGraph with = build_lowered_graph(schedule, lowering, hints), without = build_lowered_graph(schedule, lowering);
    REQUIRE(with.edges.size() == without.edges.size());
    CHECK(std::equal(with.edges.begin(), with.edges.end(), without.edges.begin(),
                     [](const LoweredEdge& a, const LoweredEdge& b) { return a.from == b.from; }));
  }
}

TEST_CASE("lowering choice: a kernel starts early where it says that it waits, and everything before it is a kernel") {
  const Schedule schedule = hand_schedule(4, {{0, 1}, {1, 2}, {2, 3}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Early, NodeStart::NoKernel, NodeStart::Early};
  const LoweredGraph graph = build_lowered_graph(schedule, Lowering::Auto, hints);
  CHECK(graph.edges_into(graph.node_of[1]).front().strength == EdgeStrength::Early);
  CHECK(graph.edges_into(graph.node_of[2]).front().strength == EdgeStrength::Full);
  CHECK(graph.edges_into(graph.node_of[3]).front().strength == EdgeStrength::Full);  // after what is no kernel
  CHECK(early_edges(build_lowered_graph(schedule, Lowering::Faithful, hints)) == 0);
  CHECK(may_start_early_as(graph, hints));
  hints.starts[1] = NodeStart::Ordered;
  CHECK_FALSE(may_start_early_as(graph, hints));
  CHECK_FALSE(may_start_early_as(graph, {}));
}

TEST_CASE("lowering choice: a node starts early after all of its parents or after none") {
  const Schedule schedule = hand_schedule(3, {{0, 2}, {1, 2}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Ordered, NodeStart::Early};
  CHECK(early_edges(build_lowered_graph(schedule, Lowering::Auto, hints)) == 2);
  hints.starts[0] = NodeStart::NoKernel;
  CHECK(early_edges(build_lowered_graph(schedule, Lowering::Auto, hints)) == 0);
}

TEST_CASE("lowering choice: the longer the way to go, the more urgent") {
  const Schedule schedule = hand_schedule(5, {{0, 1}, {1, 2}});  // two nodes alone beside three
  const LoweredGraph graph = build_lowered_graph(
      schedule, LoweringChoice{.shape = LoweringChoice::Shape::Framed, .priorities = LoweringChoice::Priorities::LongestWayFirst}, {});
  CHECK(graph.nodes[graph.node_of[0]].urgency == kMostUrgent);
  CHECK(graph.nodes[graph.node_of[1]].urgency < kMostUrgent);
  CHECK(graph.nodes[graph.node_of[2]].urgency == graph.nodes[graph.node_of[3]].urgency);
  CHECK(graph.nodes.front().urgency == 0);  // of the frame
}

TEST_CASE("tuning choices: each is legal, has a name of its own, and none is there twice") {
  const Schedule schedule = layer_schedule(120, 12, 3);
  NodeHints hints;
  hints.costs.assign(120, 3000);
  hints.starts.assign(120, NodeStart::Early);
  const std::vector<LoweringChoice> choices = tuning_choices(schedule, hints, DevicePriorities::Yes);
  std::vector<std::string> names;
  for (const LoweringChoice& choice : choices) {
    const LoweredGraph graph = build_lowered_graph(schedule, choice, hints);
    CHECK_NOTHROW(check_lowered_graph(schedule, graph));
    names.push_back(name_of(choice));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 16 by cost") != names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 64") == names.end());  // no more than it is wide
}

TEST_CASE("tuning choices: without costs nothing is by cost, and a device without priorities gets none") {
  const Schedule schedule = layer_schedule(120, 12, 3);
  for (const LoweringChoice& choice : tuning_choices(schedule, {}, DevicePriorities::No)) {
    CHECK(choice.shape != LoweringChoice::Shape::Costed);
    CHECK(choice.priorities == LoweringChoice::Priorities::Same);
    CHECK(choice.starts == LoweringChoice::Starts::Declared);
  }
}

TEST_CASE("lowering choice: costs alone give fewer lanes only where many nodes wait for several others, or more could not be had") {
  NodeHints hints;
  // Forks into 50 that one node joins: by measurement no number of lanes is better than the frame, and some are worse.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forks;
  for (std::uint32_t i = 0; i < 50; ++i) {
    forks.emplace_back(0, 1 + i);
    forks.emplace_back(1 + i, 51);
  }
  hints.costs.assign(52, 500);
  CHECK(automatic_choice(hand_schedule(52, forks), hints).shape == LoweringChoice::Shape::Framed);
  // Layers in which each waits for three.
  const Schedule layers = layer_schedule(400, 50, 3);
  hints.costs.assign(400, 500);
  const LoweringChoice choice = automatic_choice(layers, hints);
  CHECK(choice.shape == LoweringChoice::Shape::Costed);
  CHECK(choice.lanes < 50);
  CHECK(build_lowered_graph(layers, Lowering::Auto, hints).by_cost);
  CHECK_FALSE(build_lowered_graph(layers, Lowering::Auto).by_cost);
}

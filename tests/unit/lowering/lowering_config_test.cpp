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

std::uint32_t programmatic_edges(const LoweredGraph& graph) {
  return static_cast<std::uint32_t>(std::count_if(
      graph.edges.begin(), graph.edges.end(),
      [](const LoweredEdge& edge) { return edge.strength == EdgeStrength::Programmatic; }));
}

}  // namespace

TEST_CASE(
    "lowering config: Auto uses fewer lanes if costs are known, otherwise entry and exit kernels") {
  const DependencyGraph dependencies = manual_dependencies(200, {});
  NodeHints hints;
  CHECK(automatic_config(dependencies, hints).shape == LoweringConfig::Shape::Lanes);
  hints.costs.assign(200, 2000);
  const LoweringConfig by_cost = automatic_config(dependencies, hints);
  CHECK(by_cost.shape == LoweringConfig::Shape::CostBased);
  CHECK(by_cost.lanes == 32);
  CHECK(build_lowered_graph(dependencies, Lowering::Auto, hints).lanes == 32);
  hints.costs.assign(6, 2000);
  CHECK(automatic_config(manual_dependencies(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}),
                         hints)
            .shape == LoweringConfig::Shape::EntryExit);
}

TEST_CASE("lowering config: costs do not affect Faithful and Lanes(k)") {
  const DependencyGraph dependencies = layer_dependencies(32, 8, 2);
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
    "lowering config: an edge is programmatic if the kernel declares it and all predecessors are "
    "kernels") {
  const DependencyGraph dependencies = manual_dependencies(4, {{0, 1}, {1, 2}, {2, 3}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Programmatic, NodeStart::NoKernel,
                  NodeStart::Programmatic};
  const LoweredGraph graph = build_lowered_graph(dependencies, Lowering::Auto, hints);
  CHECK(graph.edges_into(graph.node_of[1]).front().strength == EdgeStrength::Programmatic);
  CHECK(graph.edges_into(graph.node_of[2]).front().strength == EdgeStrength::Full);
  CHECK(graph.edges_into(graph.node_of[3]).front().strength ==
        EdgeStrength::Full);  // after a node that is not a kernel
  CHECK(programmatic_edges(build_lowered_graph(dependencies, Lowering::Faithful, hints)) == 0);
  CHECK(allows_programmatic_starts(graph, hints));
  hints.starts[1] = NodeStart::Ordered;
  CHECK_FALSE(allows_programmatic_starts(graph, hints));
  CHECK_FALSE(allows_programmatic_starts(graph, {}));
}

TEST_CASE("lowering config: either all edges into a node are programmatic or none") {
  const DependencyGraph dependencies = manual_dependencies(3, {{0, 2}, {1, 2}});
  NodeHints hints;
  hints.starts = {NodeStart::Ordered, NodeStart::Ordered, NodeStart::Programmatic};
  CHECK(programmatic_edges(build_lowered_graph(dependencies, Lowering::Auto, hints)) == 2);
  hints.starts[0] = NodeStart::NoKernel;
  CHECK(programmatic_edges(build_lowered_graph(dependencies, Lowering::Auto, hints)) == 0);
}

TEST_CASE("tuning candidates: each is valid, has a unique name, and occurs once") {
  const DependencyGraph dependencies = layer_dependencies(120, 12, 3);
  NodeHints hints;
  hints.costs.assign(120, 3000);
  hints.starts.assign(120, NodeStart::Programmatic);
  hints.segment_blocks.assign(120, 1);
  hints.segment_lists = 7;
  const std::vector<LoweringConfig> configs = tuning_candidates(dependencies, hints);
  std::vector<std::string> names;
  for (const LoweringConfig& config : configs) {
    const LoweredGraph graph = build_lowered_graph(dependencies, config, hints);
    CHECK_NOTHROW(check_lowered_graph(dependencies, graph));
    names.push_back(name_of(config));
    const bool has_segments = config.shape == LoweringConfig::Shape::Segments;
    CHECK(graph.segments.size() == (has_segments ? 1 : 0));
    if (has_segments) CHECK(graph.segments[0].lists() <= 7);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 16 by cost") != names.end());
  CHECK(std::find(names.begin(), names.end(), "segments") != names.end());
  CHECK(std::find(names.begin(), names.end(), "lanes 64") == names.end());  // at most the width
}

TEST_CASE("tuning candidates: none uses costs without costs") {
  const DependencyGraph dependencies = layer_dependencies(120, 12, 3);
  for (const LoweringConfig& config : tuning_candidates(dependencies, {})) {
    CHECK(config.shape != LoweringConfig::Shape::CostBased);
    CHECK(config.shape != LoweringConfig::Shape::Segments);
    CHECK(config.starts == LoweringConfig::Starts::Declared);
  }
}

TEST_CASE(
    "lowering config: costs reduce lanes only if many nodes have several parents or the limit is "
    "reached") {
  NodeHints hints;
  // A fork of 50 nodes and a join: measurements show that no lane count beats entry and exit
  // kernels.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forks;
  for (std::uint32_t i = 0; i < 50; ++i) {
    forks.emplace_back(0, 1 + i);
    forks.emplace_back(1 + i, 51);
  }
  hints.costs.assign(52, 500);
  CHECK(automatic_config(manual_dependencies(52, forks), hints).shape ==
        LoweringConfig::Shape::EntryExit);
  // Layers in which each node waits for three.
  const DependencyGraph layers = layer_dependencies(400, 50, 3);
  hints.costs.assign(400, 500);
  const LoweringConfig config = automatic_config(layers, hints);
  CHECK(config.shape == LoweringConfig::Shape::CostBased);
  CHECK(config.lanes < 50);
  CHECK(build_lowered_graph(layers, Lowering::Auto, hints).by_cost);
  CHECK_FALSE(build_lowered_graph(layers, Lowering::Auto).by_cost);
}

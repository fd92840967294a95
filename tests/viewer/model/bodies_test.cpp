// Analyses of nodes in bodies: their time belongs to the node that runs the body and is counted
// once.
#include <doctest/doctest.h>

#include <algorithm>

#include "model/critical_path.hpp"
#include "model/document_builder.hpp"
#include "model/document_text.hpp"
#include "model/gaps.hpp"
#include "model/memory_use.hpp"
#include "model/node_shares.hpp"
#include "model/sync_costs.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// load -> loop, which runs a -> b per iteration, and b runs c; then store. Nodes 0, 1, 2; 3, 4; 5.
// load, a and store access t.
GraphVersion graph_with_loop() {
  GraphVersion g = test::small_topology().graph_versions[0];
  g.strings = {"", "load", "loop", "store", "a", "b", "c", "t"};
  g.labels = {{0, 0, 0}, {0, 2, 0}, {1, 5, 0}};
  g.kernels.clear();
  g.barriers.clear();
  g.buffers = {{7, BufferKind::Transient, kNone, 0, 4096, 0}};
  g.accesses = {{0, Access::Write, 0, 0, 64}, {0, Access::ReadWrite, 0, 0, 64}};
  g.nodes.assign(6, Node{});
  const std::uint32_t labels[] = {0, 0, 0, 1, 1, 2};
  for (std::uint32_t n = 0; n < 6; ++n) {
    g.nodes[n].name = n + 1;
    g.nodes[n].label = labels[n];
  }
  g.nodes[0].access_count = 1;
  g.nodes[1].kind = NodeKind::Conditional;
  g.nodes[1].first_access = 1;
  g.nodes[1].access_count = 1;
  g.nodes[3].access_count = 1;
  g.edges = {{0, 1}, {1, 2}, {3, 4}};
  g.bodies = {{1, 0, 3, 2, BodyKind::Loop}, {4, 0, 5, 1, BodyKind::Nested}};
  return g;
}

// Two iterations: load 0..10, loop 10..100 with a 12..30, 52..70 and b 30..50, 70..90, c within b;
// store 100..110; all offset by 1'000.
SampleBlock replay() {
  SampleBlock block{3, 1, 0, 1, SampleSource::Host, {}};
  block.samples = {{0, 0, 1'000, 10, 1}, {1, 0, 1'010, 90, 1}, {3, 0, 1'012, 18, 1},
                   {4, 0, 1'030, 20, 1}, {5, 0, 1'031, 10, 1}, {3, 1, 1'052, 18, 1},
                   {4, 1, 1'070, 20, 1}, {5, 1, 1'071, 10, 1}, {2, 0, 1'100, 10, 1}};
  return block;
}

}  // namespace

TEST_CASE("bodies: a node knows the node that runs it and its outermost own node") {
  const model::Graph graph(graph_with_loop());
  CHECK(graph.own_node_count() == 3);
  CHECK(graph.parent(2) == kNone);
  CHECK(graph.parent(3) == 1);
  CHECK(graph.parent(5) == 4);
  CHECK(graph.own_node_of(5) == 1);
  CHECK(graph.own_node_of(0) == 0);
  CHECK(graph.body_of(4) == 0);
  CHECK(graph.body_of(5) == 1);
}

TEST_CASE("bodies: the longest path consists of the graph's own nodes") {
  const model::Graph graph(graph_with_loop());
  const model::ReplayTimes times = model::replay_times(graph, replay());
  const std::vector<double> durations = model::durations(times);
  CHECK(durations == std::vector<double>{10, 90, 10, 36, 40, 20});
  const model::CriticalPath path = model::critical_path(graph, durations),
                            of_replay = model::critical_path(graph, times);
  CHECK(path.work == 110);
  REQUIRE(path.steps.size() == 3);
  CHECK(path.steps[1].node == 1);
  REQUIRE(of_replay.steps.size() == 3);
  CHECK(of_replay.work == 110);
  const model::SyncCosts costs =
      model::sync_costs(graph, durations, model::device_demand(graph, nullptr));
  CHECK(costs.length == 110);
  CHECK(costs.edges[0].is_critical);
  CHECK_FALSE(costs.edges[2].is_critical);
}

TEST_CASE("bodies: their timeline rows follow the node that runs them, and they have no gaps") {
  const model::Graph graph(graph_with_loop());
  const SampleBlock block = replay();
  const model::TimelineRows rows = model::timeline_rows(graph, block, model::RowsBy::Lane);
  CHECK(rows.rows.size() == 3);
  for (const model::TimelineItem& item : rows.items)
    CHECK(item.row == (item.node < 3 ? 0 : item.node < 5 ? 1 : 2));
  CHECK(model::gaps(graph, rows, model::replay_times(graph, block)).empty());
}

TEST_CASE("bodies: a buffer that they access counts as accessed by the node that runs them") {
  const model::Graph graph(graph_with_loop());
  const model::MemoryUse use = model::memory_by_node_order(graph);
  REQUIRE(use.spans.size() == 1);
  CHECK(use.spans[0].started == 0);
  CHECK(use.spans[0].ended == 2);
}

TEST_CASE("bodies: a loop counts without the nodes that it runs, and all shares add up to 1") {
  const model::Graph graph(graph_with_loop());
  const std::vector<double> shares =
      model::node_shares(model::durations(model::replay_times(graph, replay())),
                         [&](std::uint32_t n) { return graph.parent(n); });
  // load 10, loop 90 with a 36 and b 40, which runs c 20; store 10
  const std::vector<double> expected{10, 14, 10, 36, 20, 20};
  REQUIRE(shares.size() == expected.size());
  for (std::size_t n = 0; n < shares.size(); ++n)
    CHECK(shares[n] == doctest::Approx(expected[n] / 110));
}

TEST_CASE("bodies: a document reports each loop's iterations and counts no time twice") {
  Records records = test::small_topology();
  records.graph_versions = {graph_with_loop()};
  records.replays = {{3, 1, 0, 4, 1, 900, 950, 1'000, 1'110, 77, 1}};
  records.sample_blocks = {replay()};
  records.loop_runs = {{3, 1, 0, 1, 5, 2},
                       {3, 1, 9, 1, 5, 2},
                       {8, 1, 0, 1, 5, 2}};  // one of an unknown body, one of an unknown graph
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(records);
  const auto document = builder.publish();
  const model::GraphEntry& entry = document->graphs.begin()->second;
  CHECK(entry.statistics->sum == 110);
  CHECK(entry.statistics->nodes[3].times.count() == 2);
  REQUIRE(entry.loops.size() == 1);
  CHECK(entry.loops[0].iterations == 5);
  const std::string text = model::document_text(*document);
  CHECK(text.find("loop 1 in replay 1 iterations 5 timed 2") != std::string::npos);
  CHECK(text.find("lost 0 parent 4") != std::string::npos);
}

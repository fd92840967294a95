#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "panels/sync/sync_order.hpp"
#include "panels/sync/sync_tables.hpp"
#include "panels/sync/sync_view_model.hpp"
#include "panels/sync/sync_wait_picture.hpp"
#include "viewer/panels/memory_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using trace::EdgeCause;
using trace::kNone;
using Rows = std::vector<std::uint32_t>;

namespace {

std::shared_ptr<const model::Graph> graph() {
  return std::make_shared<model::Graph>(test::memory_record());
}
std::vector<double> medians() { return {10'000, 10'000, 10'000, 40'000, 10'000, 10'000}; }

const SyncViewModel::Cause& of(const SyncViewModel& view_model, EdgeCause cause) {
  return view_model.causes[static_cast<std::size_t>(cause)];
}

// Two nodes before a barrier, two behind it, joined by a node that runs nothing; node 1 ends last.
trace::GraphVersion joined_record() {
  trace::GraphVersion g;
  g.graph = 1;
  g.version = 1;
  g.strings = {"", "n"};
  g.labels = {{0, 0, 0}};
  g.nodes.assign(5, {});
  for (trace::Node& n : g.nodes) n.name = 1;
  g.nodes[2].kind = trace::NodeKind::Join;
  g.barriers = {{9, 0, 0, 0, kNone, 0, 0, trace::Access::ReadWrite, trace::Access::ReadWrite, 4}};
  for (const auto& [from, to] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 2}, {1, 2}, {2, 3}, {2, 4}}) {
    g.edges.push_back({from, to, EdgeCause::Barrier, trace::Hazard::None, kNone, 0, 0, 0});
  }
  return g;
}

model::ReplayTimes times_of(std::vector<std::pair<trace::Time, trace::Time>> spans) {
  model::ReplayTimes times;
  times.began = 1'000;
  for (const auto& [started, ended] : spans) {
    times.nodes.push_back({1'000 + started, 1'000 + ended, ended != 0});
    times.ended = std::max(times.ended, 1'000 + ended);
  }
  return times;
}

}  // namespace

TEST_CASE("sync facts: edges are counted and priced by cause") {
  const SyncViewModel view_model = sync_view_model(graph(), medians());
  CHECK(view_model.has_times);
  CHECK(view_model.costs.length == 90'000);
  CHECK(of(view_model, EdgeCause::Hazard).edges == 2);
  CHECK(of(view_model, EdgeCause::Barrier).edges == 2);
  CHECK(of(view_model, EdgeCause::Barrier).redundant_edges == 1);
  CHECK(of(view_model, EdgeCause::Lane).edges == 1);
  // Without the lane, the chain falls into 30 us and 60 us.
  CHECK(of(view_model, EdgeCause::Lane).cost == 30'000);
  CHECK(of(view_model, EdgeCause::EntryExit).cost == 10'000);
  CHECK(of(view_model, EdgeCause::User).edges == 0);
  CHECK(view_model.costliest_edge == test::kEdge23Lane);
  CHECK(view_model.costs.edges[test::kEdge34].cost == 20'000);
}

TEST_CASE("sync facts: barriers that order nothing are counted, the others know their edges") {
  const SyncViewModel view_model = sync_view_model(graph(), medians());
  CHECK(view_model.idle_barriers == 2);
  CHECK_FALSE(view_model.costs.barriers[0].orders_nothing());
  CHECK(view_model.costs.barriers[1].orders_nothing());
  CHECK(view_model.costs.barriers[2].orders_nothing());
  CHECK(Rows(view_model.edges_of(0).begin(), view_model.edges_of(0).end()) ==
        Rows{test::kEdge12Barrier});
  CHECK(Rows(view_model.edges_of(1).begin(), view_model.edges_of(1).end()) ==
        Rows{test::kEdge02Implied});
  CHECK(view_model.edges_of(2).empty());
  CHECK(view_model.dearest_barrier == 0);
}

TEST_CASE(
    "sync facts: what only a lane orders too is needed, for another lowering has other lanes") {
  trace::GraphVersion record = test::memory_record();
  record.edges[test::kEdge01].cause = EdgeCause::Lane;
  const SyncViewModel view_model =
      sync_view_model(std::make_shared<model::Graph>(record), medians());
  CHECK(view_model.costs.edges[test::kEdge02Implied].is_implied);
  CHECK(view_model.edge_needs[test::kEdge02Implied] == Need::ByLanes);
  CHECK(view_model.barrier_needs[1] == Need::ByLanes);
  CHECK(view_model.barrier_needs[2] == Need::None);
  CHECK(view_model.idle_barriers == 1);
  CHECK(sync_view_model(graph(), medians()).edge_needs[test::kEdge02Implied] == Need::None);
}

TEST_CASE("sync facts: without a time nothing has a cost") {
  const SyncViewModel view_model = sync_view_model(graph(), std::vector<double>(6, 0));
  CHECK_FALSE(view_model.has_times);
  CHECK(view_model.costliest_edge == kNone);
  CHECK(view_model.dearest_barrier == kNone);
}

TEST_CASE(
    "sync facts: a gap is known where both ends have a time, and the last predecessor decides") {
  // Node 2 has two predecessors, 0 and 1; node 3 lost its time.
  const std::vector<EdgeGap> gaps =
      edge_gaps(*graph(), times_of({{0, 10}, {11, 30}, {35, 40}, {0, 0}, {50, 60}, {55, 70}}));
  CHECK(gaps[test::kEdge01].time == 1);
  CHECK(gaps[test::kEdge01].is_deciding);
  CHECK(gaps[test::kEdge02Implied].time == 25);
  CHECK_FALSE(gaps[test::kEdge02Implied].is_deciding);
  CHECK(gaps[test::kEdge12Barrier].time == 5);
  CHECK(gaps[test::kEdge12Barrier].is_deciding);
  CHECK_FALSE(gaps[test::kEdge23Lane].is_known);
  CHECK_FALSE(gaps[test::kEdge34].is_known);
  CHECK(gaps[test::kEdge45Frame].time == -5);  // they overlapped
}

TEST_CASE("sync facts: behind a join stand those that it joins") {
  const model::Graph g(joined_record());
  const Rows all = {0, 1, 2, 3};
  CHECK(ends_of(g, all).before == Rows{0, 1});
  CHECK(ends_of(g, all).after == Rows{3, 4});
  const Rows first = {0};
  CHECK(ends_of(g, first).after == Rows{3, 4});
}

TEST_CASE(
    "sync facts: findings are those about order, of this graph or of one that was not compiled") {
  const auto document = test::memory_document();
  const std::vector<Finding> all =
      findings(*document->find(test::kMemoryKey)->graph, document->messages);
  REQUIRE(all.size() == 2);
  CHECK(all[0].message.id == "barrier-orders-nothing");
  CHECK(all[0].barrier == 1);
  CHECK_FALSE(is_hazard(all[0]));
  CHECK(is_hazard(all[1]));
  CHECK(all[1].barrier == kNone);
}

TEST_CASE(
    "sync order: edges sort by cost, gap and name, and are chosen by cause, kind and barrier") {
  const SyncViewModel view_model = sync_view_model(graph(), medians());
  const std::vector<EdgeGap> none;
  const Rows by_cost = ordered_edges(view_model, none, {}, {EdgeColumn::Cost, true}, {});
  REQUIRE(by_cost.size() == 6);
  for (std::size_t i = 1; i < by_cost.size(); ++i)
    CHECK(view_model.costs.edges[by_cost[i - 1]].cost >= view_model.costs.edges[by_cost[i]].cost);
  Rows ascending = ordered_edges(view_model, none, {}, {EdgeColumn::Cost, false}, {});
  CHECK(view_model.costs.edges[ascending.front()].cost == 0);
  std::vector<EdgeGap> gaps(6, {0, true, false});
  gaps[test::kEdge34].time = 900;
  gaps[test::kEdge01].is_known = false;
  const Rows by_gap = ordered_edges(view_model, gaps, {}, {EdgeColumn::Gap, true}, {});
  CHECK(by_gap.front() == test::kEdge34);
  CHECK(by_gap.back() == test::kEdge01);
  const std::uint32_t lane = 1u << static_cast<unsigned>(EdgeCause::Lane);
  CHECK(ordered_edges(view_model, none, {.causes = lane}, {}, {}) == Rows{test::kEdge23Lane});
  CHECK(ordered_edges(view_model, none, {.kind = EdgeKind::OrdersNothing}, {}, {}) ==
        Rows{test::kEdge02Implied});
  CHECK(ordered_edges(view_model, none, {.causes = lane, .barrier = 0}, {}, {}) ==
        Rows{test::kEdge12Barrier});
}

TEST_CASE(
    "sync order: an edge passes the filter with either end, a barrier with an edge or a node at "
    "its buffer") {
  const SyncViewModel view_model = sync_view_model(graph(), medians());
  std::vector<std::uint8_t> matches(6, 0);
  matches[5] = 1;
  CHECK(ordered_edges(view_model, {}, {}, {}, matches) == Rows{test::kEdge45Frame});
  CHECK(ordered_barriers(view_model, {}, matches).empty());
  matches[5] = 0;
  matches[3] = 1;  // touches "b" and "c"
  CHECK(ordered_barriers(view_model, {BarrierColumn::Edges, true}, matches) == Rows{0, 2});
}

TEST_CASE("sync order: barriers sort by cost, and those that order nothing stand together") {
  const SyncViewModel view_model = sync_view_model(graph(), medians());
  CHECK(ordered_barriers(view_model, {BarrierColumn::Cost, true}, {}).front() == 0);
  CHECK(ordered_barriers(view_model, {BarrierColumn::Remark, false}, {}) == Rows{1, 2, 0});
  CHECK(ordered_barriers(view_model, {BarrierColumn::Place, true}, {}) == Rows{2, 1, 0});
}

TEST_CASE("wait times: from the last of those before to the first of those after") {
  const model::Graph g(joined_record());
  const model::ReplayTimes times = times_of({{0, 10}, {2, 30}, {0, 0}, {45, 60}, {50, 70}});
  const Rows edges = {0, 1, 2, 3};
  const WaitTimes waits = wait_times(g, times, edges);
  CHECK(waits.last == 1u);
  CHECK(waits.first == 3u);
  CHECK(waits.released == 30);
  CHECK(waits.began == 45);
  CHECK(waits.before.size() == 2);
  CHECK(waits.after.size() == 2);
  CHECK(waits.levels_before == 2);  // they overlap
  CHECK(waits.levels_after == 2);
  CHECK_FALSE(waits.is_overtaken);
  CHECK(waits.left_out == 0);
}

TEST_CASE("wait times: another predecessor that ended later is told") {
  const auto g = graph();
  const model::ReplayTimes times =
      times_of({{0, 10}, {11, 30}, {35, 40}, {45, 50}, {51, 60}, {61, 70}});
  const Rows redundant_edges = {test::kEdge02Implied}, barrier = {test::kEdge12Barrier};
  CHECK(wait_times(*g, times, redundant_edges).is_overtaken);
  CHECK_FALSE(wait_times(*g, times, barrier).is_overtaken);
  const WaitTimes waits = wait_times(*g, times, redundant_edges);
  REQUIRE(waits.before.size() == 2);
  CHECK((waits.before[1].node == 1 && waits.before[1].is_other));
}

TEST_CASE("sync texts: a barrier is named by its place, what it orders by its accesses") {
  const auto g = graph();
  CHECK(barrier_text(*g, 0) == "step.cpp:12");
  CHECK(access_text(g->record().barriers[0]) == "writes before reads");
  CHECK(access_text(g->record().barriers[1]) == "any access before any access");
  trace::Barrier programmatic = g->record().barriers[0];
  programmatic.dependency = trace::Dependency::Programmatic;
  CHECK(access_text(programmatic) == "writes before reads, programmatic");
  CHECK(node_text(*g, 3) == "3  sum");
}

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "panels/sync/sync_order.hpp"
#include "panels/sync/sync_tables.hpp"
#include "panels/sync/sync_view_model.hpp"
#include "panels/sync/sync_wait_chart.hpp"
#include "viewer/panels/memory_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using trace::EdgeCause;
using trace::kNone;
using Rows = std::vector<std::uint32_t>;

namespace {

std::vector<double> medians() { return {10'000, 10'000, 10'000, 40'000, 10'000, 10'000}; }

const SyncViewModel::Cause& of(const SyncViewModel& view_model, EdgeCause cause) {
  return view_model.causes[static_cast<std::size_t>(cause)];
}

// Two nodes before a barrier and two after it, connected by a join node; node 1 ends last.
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
  times.started = 1'000;
  for (const auto& [started, ended] : spans) {
    times.nodes.push_back({1'000 + started, 1'000 + ended, ended != 0});
    times.ended = std::max(times.ended, 1'000 + ended);
  }
  return times;
}

}  // namespace

TEST_CASE("sync view model: edges are counted and costed by cause") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), medians());
  CHECK(view_model.has_times);
  CHECK(view_model.costs.length == 90'000);
  CHECK(of(view_model, EdgeCause::Hazard).edges == 2);
  CHECK(of(view_model, EdgeCause::Barrier).edges == 2);
  CHECK(of(view_model, EdgeCause::Barrier).redundant == 1);
  CHECK(of(view_model, EdgeCause::Lane).edges == 1);
  // Without the lane edge the chain splits into 30 us and 60 us.
  CHECK(of(view_model, EdgeCause::Lane).cost == 30'000);
  CHECK(of(view_model, EdgeCause::EntryExit).cost == 10'000);
  CHECK(of(view_model, EdgeCause::User).edges == 0);
  // Edge 0 -> 1 costs as much, but is data flow.
  CHECK(view_model.costliest_edge == test::kEdge12Barrier);
  CHECK(view_model.costs.edges[test::kEdge01].cost == 10'000);
  CHECK(view_model.costs.edges[test::kEdge34].cost == 10'000);
  CHECK(of(view_model, EdgeCause::Hazard).cost == 0);
}

TEST_CASE("sync view model: an edge without a gain has a reason") {
  const SyncViewModel free = sync_view_model(test::memory_graph(), medians());
  CHECK(no_gain(free, test::kEdge23Lane) == NoGain::None);
  CHECK(no_gain(free, test::kEdge02Redundant) == NoGain::NotCritical);
  const SyncViewModel full =
      sync_view_model(test::memory_graph(), medians(), std::vector<double>(6, 1));
  CHECK(full.costliest_edge == kNone);
  CHECK(no_gain(full, test::kEdge23Lane) == NoGain::DeviceBusy);
  const SyncViewModel some =
      sync_view_model(test::memory_graph(), medians(), {0.1, 0.1, 1, 1, 0.1, 0.1});
  CHECK(no_gain(some, test::kEdge23Lane) == NoGain::NodesFillDevice);
  CHECK(some.costs.edges[test::kEdge34].cost == doctest::Approx(9'000));
}

TEST_CASE("sync view model: redundant barriers are counted and barriers list their edges") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), medians());
  CHECK(view_model.redundant_barriers == 2);
  CHECK_FALSE(view_model.costs.barriers[0].is_redundant());
  CHECK(view_model.costs.barriers[1].is_redundant());
  CHECK(view_model.costs.barriers[2].is_redundant());
  CHECK(Rows(view_model.edges_of(0).begin(), view_model.edges_of(0).end()) ==
        Rows{test::kEdge12Barrier});
  CHECK(Rows(view_model.edges_of(1).begin(), view_model.edges_of(1).end()) ==
        Rows{test::kEdge02Redundant});
  CHECK(view_model.edges_of(2).empty());
  CHECK(view_model.costliest_barrier == 0);
}

TEST_CASE("sync view model: an edge that only lane edges make redundant is redundant by lowering") {
  trace::GraphVersion record = test::memory_record();
  record.edges[test::kEdge01].cause = EdgeCause::Lane;
  const SyncViewModel view_model =
      sync_view_model(std::make_shared<model::Graph>(record), medians());
  CHECK(view_model.costs.edges[test::kEdge02Redundant].is_redundant);
  CHECK(view_model.edge_redundancy[test::kEdge02Redundant] == Redundancy::ByLowering);
  CHECK(view_model.barrier_redundancy[1] == Redundancy::ByLowering);
  CHECK(view_model.barrier_redundancy[2] == Redundancy::Full);
  CHECK(view_model.redundant_barriers == 1);
  CHECK(sync_view_model(test::memory_graph(), medians()).edge_redundancy[test::kEdge02Redundant] ==
        Redundancy::Full);
}

TEST_CASE("sync view model: without durations no edge or barrier has a cost") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), std::vector<double>(6, 0));
  CHECK_FALSE(view_model.has_times);
  CHECK(view_model.costliest_edge == kNone);
  CHECK(view_model.costliest_barrier == kNone);
}

TEST_CASE(
    "sync view model: a gap is known if both ends have samples, and marks the latest predecessor") {
  // Node 2 has the predecessors 0 and 1; node 3 has no sample.
  const std::vector<model::EdgeGap> gaps = model::edge_gaps(
      *test::memory_graph(), times_of({{0, 10}, {11, 30}, {35, 40}, {0, 0}, {50, 60}, {55, 70}}));
  CHECK(gaps[test::kEdge01].time == 1);
  CHECK(gaps[test::kEdge01].is_latest);
  CHECK(gaps[test::kEdge02Redundant].time == 25);
  CHECK_FALSE(gaps[test::kEdge02Redundant].is_latest);
  CHECK(gaps[test::kEdge12Barrier].time == 5);
  CHECK(gaps[test::kEdge12Barrier].is_latest);
  CHECK_FALSE(gaps[test::kEdge23Lane].is_known);
  CHECK_FALSE(gaps[test::kEdge34].is_known);
  CHECK(gaps[test::kEdge45EntryExit].time == -5);  // they overlapped
}

TEST_CASE("sync view model: join nodes are replaced by their neighbours") {
  const model::Graph g(joined_record());
  const Rows all = {0, 1, 2, 3};
  CHECK(ends_of(g, all).before == Rows{0, 1});
  CHECK(ends_of(g, all).after == Rows{3, 4});
  const Rows first = {0};
  CHECK(ends_of(g, first).after == Rows{3, 4});
}

TEST_CASE("sync view model: findings are ordering messages of this graph or of uncompiled graphs") {
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

TEST_CASE("sync order: edges sort by cost and gap and are filtered by cause, kind and barrier") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), medians());
  const ShownGaps none;
  const Rows by_cost = ordered_edges(view_model, none, {}, {EdgeColumn::Cost, true}, {});
  REQUIRE(by_cost.size() == 6);
  for (std::size_t i = 1; i < by_cost.size(); ++i)
    CHECK(view_model.costs.edges[by_cost[i - 1]].cost >= view_model.costs.edges[by_cost[i]].cost);
  Rows ascending = ordered_edges(view_model, none, {}, {EdgeColumn::Cost, false}, {});
  CHECK(view_model.costs.edges[ascending.front()].cost == 0);
  std::vector<model::EdgeGap> gaps(6, {0, true, false});
  gaps[test::kEdge34].time = 900;
  gaps[test::kEdge01].is_known = false;
  model::MedianGaps medians_of{std::vector<model::MedianGap>(6, {5, 2}), {}};
  medians_of.edges[test::kEdge12Barrier] = {700, 3};
  medians_of.edges[test::kEdge34] = {0, 0};
  const ShownGaps shown{std::make_shared<const std::vector<model::EdgeGap>>(gaps),
                        std::make_shared<const model::MedianGaps>(medians_of)};
  const Rows by_gap = ordered_edges(view_model, shown, {}, {EdgeColumn::Gap, true}, {});
  CHECK(by_gap.front() == test::kEdge34);
  CHECK(by_gap.back() == test::kEdge01);
  const Rows by_median = ordered_edges(view_model, shown, {}, {EdgeColumn::MedianGap, true}, {});
  CHECK(by_median.front() == test::kEdge12Barrier);
  CHECK(by_median.back() == test::kEdge34);
  const std::uint32_t lane = 1u << static_cast<unsigned>(EdgeCause::Lane);
  CHECK(ordered_edges(view_model, none, {.causes = lane}, {}, {}) == Rows{test::kEdge23Lane});
  CHECK(ordered_edges(view_model, none, {.kind = EdgeKind::Redundant}, {}, {}) ==
        Rows{test::kEdge02Redundant});
  CHECK(ordered_edges(view_model, none, {.causes = lane, .barrier = 0}, {}, {}) ==
        Rows{test::kEdge12Barrier});
}

TEST_CASE(
    "sync order: an edge passes if either end matches, a barrier if an edge or a node that "
    "accesses its buffer matches") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), medians());
  std::vector<std::uint8_t> matches(6, 0);
  matches[5] = 1;
  CHECK(ordered_edges(view_model, {}, {}, {}, matches) == Rows{test::kEdge45EntryExit});
  CHECK(ordered_barriers(view_model, {}, matches).empty());
  matches[5] = 0;
  matches[3] = 1;  // accesses "b" and "c"
  CHECK(ordered_barriers(view_model, {BarrierColumn::Edges, true}, matches) == Rows{0, 2});
}

TEST_CASE("sync order: barriers sort by cost, status and location") {
  const SyncViewModel view_model = sync_view_model(test::memory_graph(), medians());
  CHECK(ordered_barriers(view_model, {BarrierColumn::Cost, true}, {}).front() == 0);
  CHECK(ordered_barriers(view_model, {BarrierColumn::Status, false}, {}) == Rows{1, 2, 0});
  CHECK(ordered_barriers(view_model, {BarrierColumn::Location, true}, {}) == Rows{2, 1, 0});
}

TEST_CASE(
    "wait times: the wait is from the last predecessor's end to the first successor's start") {
  const model::Graph g(joined_record());
  const model::ReplayTimes times = times_of({{0, 10}, {2, 30}, {0, 0}, {45, 60}, {50, 70}});
  const Rows edges = {0, 1, 2, 3};
  const WaitTimes waits = wait_times(g, times, edges);
  CHECK(waits.last == 1u);
  CHECK(waits.first == 3u);
  CHECK(waits.released == 30);
  CHECK(waits.started == 45);
  CHECK(waits.before.size() == 2);
  CHECK(waits.after.size() == 2);
  CHECK(waits.levels_before == 2);  // they overlap
  CHECK(waits.levels_after == 2);
  CHECK_FALSE(waits.other_ended_last);
  CHECK(waits.omitted == 0);
}

TEST_CASE("wait times: another predecessor that ended later is reported") {
  const auto g = test::memory_graph();
  const model::ReplayTimes times =
      times_of({{0, 10}, {11, 30}, {35, 40}, {45, 50}, {51, 60}, {61, 70}});
  const Rows redundant = {test::kEdge02Redundant}, barrier = {test::kEdge12Barrier};
  CHECK(wait_times(*g, times, redundant).other_ended_last);
  CHECK_FALSE(wait_times(*g, times, barrier).other_ended_last);
  const WaitTimes waits = wait_times(*g, times, redundant);
  REQUIRE(waits.before.size() == 2);
  CHECK((waits.before[1].node == 1 && waits.before[1].is_other));
}

TEST_CASE("sync text: a barrier is named by its source location and its accesses") {
  const auto g = test::memory_graph();
  CHECK(barrier_text(*g, 0) == "step.cpp:12");
  CHECK(access_text(g->record().barriers[0]) == "writes before reads");
  CHECK(access_text(g->record().barriers[1]) == "any access before any access");
  trace::Barrier programmatic = g->record().barriers[0];
  programmatic.dependency = trace::Dependency::Programmatic;
  CHECK(access_text(programmatic) == "writes before reads, programmatic");
  CHECK(node_text(*g, 3) == "3  sum");
}

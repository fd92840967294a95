#include <doctest/doctest.h>

#include "model/document_builder.hpp"
#include "panels/workspace/workspace_view_model.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

TEST_CASE("graph view model: the full range equals the document's statistics") {
  const PanelFixture fixture;
  const GraphViewModel& view_model = fixture.view_model;
  REQUIRE(view_model.nodes.size() == HandMadeTrace::kNodes);
  CHECK(view_model.key == fixture.view.graph);
  CHECK(view_model.nodes[0].count == HandMadeTrace::kStepReplays);
  CHECK(view_model.nodes[4].count == HandMadeTrace::kStepReplays - 1);
  CHECK(view_model.nodes[4].lost == 1);
  double share = 0;
  for (const GraphViewModel::Node& node : view_model.nodes) {
    share += node.share;
    CHECK(node.min <= node.p10);
    CHECK(node.p10 <= node.median);
    CHECK(node.median <= node.p90);
    CHECK(node.p90 <= node.p99);
    CHECK(node.p99 <= node.max * 1.02);
  }
  CHECK(share == doctest::Approx(1));
  CHECK(view_model.max == view_model.nodes[4].median);
  CHECK(view_model.min == view_model.nodes[0].median);
}

TEST_CASE("graph view model: critical nodes have zero slack and other nodes have the difference") {
  const PanelFixture fixture;
  const GraphViewModel& view_model = fixture.view_model;
  for (const std::uint32_t node : {0u, 2u, 3u, 4u}) {
    CHECK(view_model.nodes[node].is_critical);
    CHECK(view_model.nodes[node].slack == doctest::Approx(0));
  }
  CHECK_FALSE(view_model.nodes[1].is_critical);
  CHECK(view_model.nodes[1].slack ==
        doctest::Approx(view_model.nodes[2].median - view_model.nodes[1].median));
}

TEST_CASE("graph view model: a node that runs bodies has no part in the colour scale") {
  trace::GraphVersion record;
  record.graph = record.version = 1;
  record.strings = {""};
  record.labels = {{0, 0, 0}};
  record.nodes.resize(4);
  record.edges = {{0, 1}};
  record.bodies = {{1, 0, 2, 2, trace::BodyKind::Loop}};
  trace::Records records;
  records.graph_versions = {record};
  // two iterations of nodes 2 and 3, which take 20 ns and 30 ns
  records.sample_blocks = {{1,
                            1,
                            0,
                            1,
                            trace::SampleSource::Host,
                            {{0, 0, 1'000, 10, 1},
                             {1, 0, 1'010, 100, 1},
                             {2, 0, 1'010, 20, 1},
                             {3, 0, 1'030, 30, 1},
                             {2, 1, 1'060, 20, 1},
                             {3, 1, 1'080, 30, 1}}}};
  records.replays = {{1, 1, 0, 0, 1, 900, 950, 1'000, 1'110, 1, 1}};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  const auto document = builder.publish();
  const model::GraphEntry& entry = *document->find({1, 1});
  const GraphViewModel all = make_graph_view_model(*document, entry, {});
  CHECK(all.nodes[1].runs_bodies);
  CHECK(all.nodes[1].median > 90);
  CHECK(all.max < 40);
  CHECK(all.max_p99 < 40);
  const auto replay = make_replay_view_model(*document, entry, 1);
  REQUIRE(replay);
  const GraphViewModel one = view_model_of_replay(*entry.graph, *replay);
  CHECK(one.nodes[1].runs_bodies);
  CHECK(one.min == 10);
  CHECK(one.max == 60);
}

TEST_CASE("graph view model: selected durations restrict samples, numbers and the newest replay") {
  const PanelFixture fixture;
  // Every seventh replay takes exactly 14 us.
  model::ReplayRange range{.durations = model::DurationBounds{.min = 14'000, .max = 14'000}};
  const GraphViewModel inside = make_graph_view_model(*fixture.document, fixture.entry(), range);
  CHECK(inside.nodes[0].count == 5);
  CHECK(inside.nodes[0].max == static_cast<double>(test::hand_made_time(0, 7)));
  const ReplaySummary summary = make_replay_summary(fixture.entry(), range, RateOver::Range);
  CHECK(summary.replays == 5);
  CHECK(summary.device_time.max == 14'000);
  const auto newest = make_replay_view_model(*fixture.document, fixture.entry(), {}, range);
  REQUIRE(newest);
  CHECK(newest->replay.replay == 35);
  range.durations->admitted = model::Durations::Outside;
  const GraphViewModel rest = make_graph_view_model(*fixture.document, fixture.entry(), range);
  CHECK(rest.nodes[0].count == HandMadeTrace::kStepReplays - 5);
}

TEST_CASE("graph view model: when a trace stops growing, its rate is that of all replays") {
  PanelFixture fixture;
  WorkspaceViewModel view_model(fixture.background);
  const auto rate = [&](UpdateRate update) {
    view_model.update(fixture.document, fixture.view, update, 0);
    fixture.background.wait_until_idle();
    view_model.update(fixture.document, fixture.view, update, 0);
    REQUIRE(view_model.figures() != nullptr);
    return view_model.figures()->rate;
  };
  CHECK(rate(UpdateRate::Throttled) == RateOver::LastSecond);
  CHECK(rate(UpdateRate::Immediate) == RateOver::Range);
}

TEST_CASE("graph view model: the newest replay of a range is shown") {
  const PanelFixture fixture;
  const auto newest = make_replay_view_model(*fixture.document, fixture.entry(), {}, {3, 10});
  REQUIRE(newest);
  CHECK(newest->replay.replay == 13);
}

TEST_CASE("graph view model: of many sampled replays it says how many were read") {
  const PanelFixture fixture({800, 600}, test::recorded_document());
  const GraphViewModel some =
      make_graph_view_model(*fixture.document, fixture.entry(), {0, test::kRecordedReplays - 1});
  CHECK(some.sampled_replays == test::kRecordedReplays - 1);
  CHECK(some.read_replays == some.sampled_replays);
}

TEST_CASE("graph view model: a range contains only the samples of its replays") {
  const PanelFixture fixture;
  const GraphViewModel view_model = make_graph_view_model(*fixture.document, fixture.entry(),
                                                          {6, 1});  // replay 7: exact thousands
  CHECK(view_model.samples == HandMadeTrace::kNodes);
  for (std::uint32_t n = 0; n < HandMadeTrace::kNodes; ++n) {
    CHECK(view_model.nodes[n].count == 1);
    CHECK(view_model.nodes[n].min == static_cast<double>(test::hand_made_time(n, 7)));
  }
  const GraphViewModel none = make_graph_view_model(*fixture.document, fixture.entry(), {1'000, 5});
  CHECK(none.samples == 0);
  CHECK(none.nodes.size() == HandMadeTrace::kNodes);
  CHECK(none.path.steps.empty());
}

TEST_CASE("replay view model: without a replay the newest replay with samples is used") {
  const PanelFixture fixture;
  const auto view_model = make_replay_view_model(*fixture.document, fixture.entry(), std::nullopt);
  REQUIRE(view_model);
  CHECK(view_model->replay.replay == HandMadeTrace::kStepReplays);
  REQUIRE(view_model->block);
  CHECK(view_model->times.nodes.size() == HandMadeTrace::kNodes);
  CHECK(view_model->path.work + view_model->path.wait ==
        doctest::Approx(static_cast<double>(view_model->times.ended - view_model->times.started)));
}

TEST_CASE(
    "replay view model: an unknown replay gives no result and a replay without samples gives no "
    "block") {
  const PanelFixture fixture;
  CHECK_FALSE(make_replay_view_model(*fixture.document, fixture.entry(), 4'000));
  const auto path = test::scratch_folder() / "no samples.reprise";
  test::write_hand_made_trace(path, {.samples = false});
  const auto document = test::document_of(path);
  const auto view_model = make_replay_view_model(*document, *document->find(fixture.view.graph), 5);
  REQUIRE(view_model);
  CHECK(view_model->replay.replay == 5);
  CHECK(view_model->block == nullptr);
  CHECK(view_model->times.nodes.size() == HandMadeTrace::kNodes);
}

TEST_CASE("replay figures: a range has its replay count, sample count and rate") {
  const PanelFixture fixture;
  const ReplaySummary all = make_replay_summary(fixture.entry(), {}, RateOver::Range);
  CHECK(all.replays == HandMadeTrace::kStepReplays);
  CHECK(all.sampled == HandMadeTrace::kStepReplays);
  CHECK(all.device_time.count == HandMadeTrace::kStepReplays);
  const auto& replays = fixture.entry().replays;
  const double seconds = static_cast<double>(replays.back().launched - replays[0].launched) / 1e9;
  CHECK(all.per_second == doctest::Approx(static_cast<double>(replays.size() - 1) / seconds));
  CHECK(make_replay_summary(fixture.entry(), {}, RateOver::LastSecond).per_second ==
        doctest::Approx(all.per_second));
  CHECK(make_replay_summary(fixture.entry(), {5, 10}, RateOver::Range).replays == 10);
  CHECK(make_replay_summary(fixture.entry(), {5, 1}, RateOver::Range).per_second == 0);
  CHECK(make_replay_summary(fixture.entry(), {500, 1}, RateOver::Range).replays == 0);
}

#include <doctest/doctest.h>

#include <algorithm>

#include "panels/timeline/timeline_data.hpp"
#include "panels/timeline/timeline_draw_context.hpp"
#include "panels/timeline/timeline_gap_list.hpp"
#include "panels/timeline/timeline_host.hpp"
#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/timeline/timeline_reasons.hpp"
#include "panels/timeline/timeline_row_order.hpp"
#include "panels/timeline/timeline_scene.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::PanelFixture;
using trace::Time;

TEST_CASE(
    "timeline scene: items are sorted by start in their rows and every measured node has an item") {
  PanelFixture fixture({100, 100}, test::recorded_document());
  const model::Graph& graph = *fixture.entry().graph;
  for (const model::RowsBy by : {model::RowsBy::Lane, model::RowsBy::Worker}) {
    const TimelineScene scene =
        make_timeline_scene(graph, fixture.replay->replay, fixture.replay->block, by);
    std::size_t items = 0;
    for (std::size_t row = 0; row < scene.rows.rows.size(); ++row) {
      Time end = 0;
      for (const model::TimelineItem& item : scene.items(row)) {
        CHECK(item.row == row);
        CHECK(item.started >= end);
        end = item.ended;
        ++items;
      }
      for (const model::Gap& gap : scene.row_of_gaps(row)) CHECK(gap.row == row);
    }
    CHECK(items == scene.rows.items.size());
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      CHECK((scene.items_of[n] != trace::kNone) == scene.times.nodes[n].measured);
      if (scene.items_of[n] != trace::kNone) CHECK(scene.rows.items[scene.items_of[n]].node == n);
    }
  }
}

TEST_CASE(
    "timeline scene: each label spans its first to its last node and labels of a row are "
    "disjoint") {
  PanelFixture fixture({100, 100});
  const model::Graph& graph = *fixture.entry().graph;
  const TimelineScene scene = make_timeline_scene(graph, fixture.replay->replay,
                                                  fixture.replay->block, model::RowsBy::Lane);
  CHECK(scene.labels.size() == graph.record().labels.size() - 1);
  REQUIRE(!scene.labels.empty());
  for (std::size_t i = 0; i < scene.labels.size(); ++i) {
    const TimelineLabel& label = scene.labels[i];
    Time first = 0, last = 0;
    std::uint32_t nodes = 0;
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      if (!graph.is_below(graph.record().nodes[n].label, label.label)) continue;
      first =
          nodes == 0 ? scene.times.nodes[n].started : std::min(first, scene.times.nodes[n].started);
      last = std::max(last, scene.times.nodes[n].ended);
      ++nodes;
    }
    CHECK(label.started == first);
    CHECK(label.ended == last);
    CHECK(label.nodes == nodes);
    CHECK(label.row < scene.label_rows);
    if (i > 0 && scene.labels[i - 1].row == label.row)
      CHECK(scene.labels[i - 1].ended <= label.started);
  }
}

TEST_CASE("timeline scene: a node with a lost sample counts as unmeasured and has no item") {
  PanelFixture fixture({100, 100});
  fixture.view.replay = 3;  // the sample of the last node of "step" was lost
  fixture.update();
  REQUIRE(fixture.replay);
  const TimelineScene scene = make_timeline_scene(*fixture.entry().graph, fixture.replay->replay,
                                                  fixture.replay->block, model::RowsBy::Lane);
  CHECK(scene.unmeasured == 1);
  CHECK(scene.items_of[4] == trace::kNone);
}

TEST_CASE("timeline host rows: ranges are indexed by thread and depth and can be appended") {
  model::GrowingList<trace::HostRange> list;
  HostRowsBuilder builder;
  list.push_back({7, 1, 120, 150, "inner"});
  list.push_back({7, 0, 100, 200, "outer"});
  list.push_back({8, 0, 90, 300, "other"});
  CHECK(builder.extend(list.view()).rows.size() == 3);
  list.push_back({7, 0, 210, 260, "outer"});
  list.push_back({7, 0, 0, 260, "without a start"});
  const HostRows rows = builder.extend(list.view());
  const auto& outer = rows.rows.at({7, std::uint16_t{0}}).spans;
  REQUIRE(outer.size() == 2);
  CHECK(outer[0].started == 100);
  CHECK(outer[1].started == 210);
  CHECK(rows.ranges[rows.rows.at({7, std::uint16_t{1}}).spans[0].range].name == "inner");
}

TEST_CASE("timeline: navigation selects only sampled replays, by index and by duration") {
  const auto document = test::make_replays_document(100, [](trace::Replay& r) {
    r.sampled = r.replay % 10 == 0 ? 1 : 0;
    if (r.replay == 40) r.ended = r.started + 700'000;
    if (r.replay == 41) r.ended = r.started + 900'000;  // slower, but not sampled
  });
  const auto& replays = document->find(test::kManyReplays)->replays;
  const auto find_replay = [&](ReplayChoice choice, std::uint64_t from,
                               model::ReplayRange range = {}) {
    return select_replay(replays, range, choice, from);
  };
  CHECK(find_replay(ReplayChoice::Previous, 35) == 30u);
  CHECK(find_replay(ReplayChoice::Previous, 30) == 20u);
  CHECK(find_replay(ReplayChoice::Next, 30) == 40u);
  CHECK(!find_replay(ReplayChoice::Previous, 10));
  CHECK(!find_replay(ReplayChoice::Next, 100));
  CHECK(find_replay(ReplayChoice::Slowest, 1) == 40u);
  CHECK(*find_replay(ReplayChoice::Slowest, 1, {50, 30}) > 50);
  CHECK(*find_replay(ReplayChoice::Median, 1) % 10 == 0);
  CHECK(!find_replay(ReplayChoice::Median, 1, {1, 3}));
}

TEST_CASE("timeline: finds the replays in a time span, including replays without times") {
  const auto document = test::make_replays_document(1000, [](trace::Replay& r) {
    if (r.replay % 7 == 0) r.started = r.ended = r.launched = r.launch_returned = 0;
  });
  const auto& replays = document->find(test::kManyReplays)->replays;
  const Time at = test::kManyReplaysBegin;
  const auto [first, end] = replays_between(replays, at + 500 * test::kManyReplaysStep + 50'000,
                                            at + 510 * test::kManyReplaysStep);
  CHECK(first <= 499);  // replay 500 had started
  CHECK(first >= 490);
  CHECK(end >= 510);
  CHECK(end <= 512);
  const auto before = replays_between(replays, 0, 1000);
  CHECK(before.first == before.second);
  const auto after = replays_between(replays, at + 5000 * test::kManyReplaysStep,
                                     at + 6000 * test::kManyReplaysStep);
  CHECK(after.first == after.second);
}

TEST_CASE("timeline: the message for missing nodes gives the reason") {
  PanelFixture fixture({100, 100}, test::make_replays_document(20));
  fixture.update();
  PanelContext context = fixture.panel_context();
  CHECK(missing_nodes_reason(context).title.find("No node timings") != std::string::npos);
  CHECK(missing_nodes_reason(context).hint.find("REPRISE_PROFILE") != std::string::npos);

  PanelFixture waiting({100, 100}, test::recorded_document());
  waiting.replay.reset();
  CHECK(missing_nodes_reason(waiting.panel_context()).is_busy);

  PanelFixture none({100, 100}, test::make_replays_document(0));
  none.show(test::kManyReplays);
  CHECK(missing_nodes_reason(none.panel_context()).title.find("No replay of many") !=
        std::string::npos);
}

TEST_CASE("timeline gap list: the longest gaps in view, with the idle time cut to the view") {
  PanelFixture fixture({100, 100});
  const TimelineScene scene = make_timeline_scene(*fixture.entry().graph, fixture.replay->replay,
                                                  fixture.replay->block, model::RowsBy::Lane);
  model::ActivityBuilder builder;
  const model::Activity activity = builder.extend(*fixture.document);
  const Time first = fixture.document->first, last = fixture.document->last;
  const GapTotals all = list_gaps(activity, &scene, first, last);
  std::size_t idle = 0;
  double sum = 0;
  for (const auto& [device, gaps] : activity.idle) {
    idle += gaps.gaps.size();
    for (const model::IdleGap& gap : gaps.gaps) sum += static_cast<double>(gap.ended - gap.started);
  }
  CHECK(idle > 0);
  CHECK(all.count == idle + scene.gaps.size());
  CHECK(all.longest.size() == std::min(all.count, kMaxListedGaps));
  for (std::size_t i = 1; i < all.longest.size(); ++i)
    CHECK(all.longest[i - 1].ended - all.longest[i - 1].started >=
          all.longest[i].ended - all.longest[i].started);
  double listed = 0;
  for (const auto& [cause, time] : all.idle) listed += time;
  CHECK(listed == doctest::Approx(sum));
  const model::IdleGap& gap = activity.idle.begin()->second.gaps.front();
  const GapTotals part = list_gaps(activity, nullptr, gap.started + 1, gap.ended - 1);
  CHECK(part.count == 1);
  CHECK(part.idle.at(gap.cause) ==
        doctest::Approx(static_cast<double>(gap.ended - gap.started - 2)));
}

TEST_CASE(
    "timeline layout: the rows do not depend on the visible part, and closed graphs hide nodes") {
  PanelFixture fixture({100, 100});
  PanelContext context = fixture.panel_context();
  model::ActivityBuilder builder;
  const model::Activity activity = builder.extend(*fixture.document);
  TimelineLevels levels;
  levels.reset(fixture.document->samples.get(), model::RowsBy::Lane);
  const TimelineRanks ranks =
      make_timeline_ranks(*fixture.document, context.view.graph, activity, {});
  TimelineLayoutDesc desc{
      .context = context, .levels = levels, .activity = activity, .ranks = ranks};
  desc.available_height = 600;
  const TimelineLayout layout = make_timeline_layout(desc);
  using Kind = TimelineRow::Kind;
  for (const auto& [key, entry] : fixture.document->graphs) {
    CHECK(layout.find(Kind::Replays, 0, 0, key) != nullptr);
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      CHECK(layout.find(Kind::Nodes, lane, 0, key) != nullptr);
  }
  CHECK(layout.find(Kind::Queue, 4, 0) != nullptr);
  CHECK(layout.find(Kind::Idle, 1, 0) != nullptr);
  CHECK(layout.find(Kind::Launches, 77, 0) != nullptr);
  CHECK(layout.rows.front().detail == "digits 4711");
  desc.opened.graphs[context.view.graph] = false;
  const TimelineLayout closed = make_timeline_layout(desc);
  CHECK(closed.find(Kind::Replays, 0, 0, context.view.graph) != nullptr);
  CHECK(closed.find(Kind::Nodes, 0, 0, context.view.graph) == nullptr);
}

namespace {

// The layout of the hand-made document.
struct LayoutFixture : PanelFixture {
  LayoutFixture() : PanelFixture({100, 100}) {
    levels.reset(document->samples.get(), model::RowsBy::Lane);
  }
  TimelineLayout layout(const TimelineOpened& opened, RowOrder order = RowOrder::Name,
                        double min_length = 0, Time from = 0, Time to = 0) {
    const PanelContext context = panel_context();
    const TimelineScene scene =
        make_timeline_scene(*entry().graph, replay->replay, replay->block, model::RowsBy::Lane);
    levels.add(context.view.graph, scene);
    const TimelineRanks ranks = make_timeline_ranks(*document, context.view.graph, activity, host);
    return make_timeline_layout({.context = context,
                                 .levels = levels,
                                 .activity = activity,
                                 .ranks = ranks,
                                 .shown = &scene,
                                 .host = &host,
                                 .opened = opened,
                                 .order = order,
                                 .min_length = min_length,
                                 .from = from,
                                 .to = to,
                                 .available_height = available_height});
  }
  model::Activity activity = model::ActivityBuilder().extend(*document);
  HostRows host;
  TimelineLevels levels;
  float available_height = 300;
};

std::vector<std::string> names_of(const TimelineLayout& layout, TimelineRow::Kind kind) {
  std::vector<std::string> names;
  for (const TimelineRow& row : layout.rows) {
    if (row.kind == kind && !row.label.empty()) names.push_back(row.label);
  }
  return names;
}

}  // namespace

TEST_CASE("timeline layout: a closed section has a title and no rows") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  TimelineOpened opened;
  CHECK(fixture.layout(opened).find(Kind::Queue, 4, 0) != nullptr);
  opened.closed_sections = {{TimelineSection::Device, 1}, {TimelineSection::Nodes, 0}};
  const TimelineLayout layout = fixture.layout(opened);
  CHECK(layout.find(Kind::Queue, 4, 0) == nullptr);
  CHECK(layout.find(Kind::Idle, 1, 0) == nullptr);
  CHECK(layout.find(Kind::Nodes, 0, 0, fixture.view.graph) == nullptr);
  CHECK(layout.find(Kind::Active, 0, 0, fixture.view.graph) != nullptr);  // it sums them up
  const auto titles = names_of(layout, Kind::Title);
  CHECK(std::find(titles.begin(), titles.end(), "host (2 threads)") != titles.end());
  CHECK(std::find(titles.begin(), titles.end(), "NODES BY LANE") != titles.end());
}

TEST_CASE("timeline layout: a closed thread has only its outermost ranges") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  model::GrowingList<trace::HostRange> ranges;
  const Time first = fixture.document->first;
  ranges.push_back({77, 1, first + 20, first + 50, "inner"});
  ranges.push_back({77, 0, first + 10, first + 90, "outer"});
  fixture.host = HostRowsBuilder().extend(ranges.view());
  const TimelineLayout open = fixture.layout({});
  CHECK(open.find(Kind::Ranges, 77, 0)->folds);
  CHECK(open.find(Kind::Ranges, 77, 1) != nullptr);
  CHECK(open.find(Kind::Launches, 77, 0) != nullptr);
  TimelineOpened opened;
  opened.closed_threads = {77};
  const TimelineLayout closed = fixture.layout(opened);
  CHECK(closed.find(Kind::Ranges, 77, 0) != nullptr);
  CHECK(closed.find(Kind::Ranges, 77, 1) == nullptr);
  CHECK(closed.find(Kind::Launches, 77, 0) == nullptr);
}

TEST_CASE("timeline layout: rows are sorted by name, busy time or first use") {
  LayoutFixture fixture;
  const auto graphs = [&](RowOrder order) {
    return names_of(fixture.layout({}, order), TimelineRow::Kind::Replays);
  };
  using Names = std::vector<std::string>;
  CHECK(graphs(RowOrder::Name) == Names{"other", "step"});
  CHECK(graphs(RowOrder::BusyTime) == Names{"step", "other"});  // it has more replays
  CHECK(graphs(RowOrder::FirstUse) == Names{"step", "other"});
  const auto lanes = [&](RowOrder order) {
    return names_of(fixture.layout({}, order), TimelineRow::Kind::Nodes);
  };
  CHECK(lanes(RowOrder::BusyTime).front() == "lane 0");
}

TEST_CASE("timeline layout: resized rows keep their height, and the others fill the rest") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  const float before = fixture.layout({}).find(Kind::Queue, 4, 0)->height;
  TimelineOpened opened;
  opened.heights[{Kind::Queue, {}}] = 60;
  opened.closed_sections = {{TimelineSection::Graphs, 0}};
  const TimelineLayout layout = fixture.layout(opened);
  CHECK(layout.find(Kind::Queue, 4, 0)->height == 60);
  CHECK(layout.find(Kind::Idle, 1, 0)->height > before);
  CHECK(layout.height <= 300);
  for (std::size_t i = 1; i < layout.rows.size(); ++i)
    CHECK(layout.rows[i].top >= layout.rows[i - 1].top + layout.rows[i - 1].height);
}

TEST_CASE("timeline scene: of a single worker, the number of its busy rows is counted") {
  trace::GraphVersion record;
  record.strings = {""};
  record.labels = {{}};
  record.nodes.resize(3);
  auto block = std::make_shared<trace::SampleBlock>();
  block->samples = {{0, 0, 100, 50, 4}, {1, 0, 110, 20, 4}, {2, 0, 120, 60, 4}};
  const TimelineScene scene =
      make_timeline_scene(model::Graph(record), {}, block, model::RowsBy::Worker);
  CHECK(scene.groups.size() == 1);
  CHECK(scene.active.max_active() == 3);
  CHECK(scene.active.between(120, 130) == 30);
}

TEST_CASE("timeline layout: a low window has lower rows, so that eight fit below a title") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  fixture.available_height = 170;  // of a window of 1000 x 600
  const TimelineLayout layout = fixture.layout({});
  const TimelineRow* const queue = layout.find(Kind::Queue, 4, 0);
  CHECK(layout.rows.front().height + 8 * (queue[1].top - queue->top) <= 170);
  fixture.available_height = 1000;
  CHECK(fixture.layout({}).find(Kind::Queue, 4, 0)->height > queue->height);
}

TEST_CASE("timeline layout: numbers in the names of rows count as numbers") {
  CHECK(name_precedes("lane 2", "lane 10"));
  CHECK_FALSE(name_precedes("lane 10", "lane 2"));
  CHECK(name_precedes("a 1 b", "a 1 c"));
  CHECK(name_precedes("queue", "queue 1"));
  CHECK(name_precedes("lane 9", "row 1"));
}

TEST_CASE("timeline layout: nodes that are too narrow to draw have no rows") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  const TimelineLayout layout = fixture.layout({}, RowOrder::Name, 1e9);
  CHECK(layout.find(Kind::Replays, 0, 0, fixture.view.graph) != nullptr);
  CHECK(names_of(layout, Kind::Nodes).empty());
  CHECK(names_of(layout, Kind::Active).empty());
}

TEST_CASE("timeline scene: the busy time of each row and lane, and how many lanes are active") {
  PanelFixture fixture({100, 100});
  const TimelineScene scene = make_timeline_scene(*fixture.entry().graph, fixture.replay->replay,
                                                  fixture.replay->block, model::RowsBy::Lane);
  Time sum = 0;
  for (std::size_t row = 0; row < scene.rows.rows.size(); ++row) {
    Time time = 0;
    for (const model::TimelineItem& item : scene.items(row)) time += item.ended - item.started;
    CHECK(scene.row_busy[row].total() == time);
    sum += time;
  }
  CHECK(scene.active.max_active() == 2);  // saxpy and blur overlap
  CHECK(scene.active.total() == sum);
}

TEST_CASE("timeline: a critical path through every node is not marked, one of a loop is") {
  const auto fixture_of = [](bool is_loop) {
    trace::Records records;
    trace::GraphVersion graph;
    graph.graph = graph.version = 1;
    graph.strings = {"", "first", "second"};
    graph.labels = {{}};
    graph.nodes.resize(2);
    graph.nodes[0].name = 1;
    graph.nodes[1].name = 2;
    graph.nodes[0].kind = is_loop ? trace::NodeKind::Conditional : trace::NodeKind::Dispatch;
    if (is_loop) {
      graph.bodies = {{0, 0, 1, 1, trace::BodyKind::Loop}};
    } else {
      graph.edges = {{0, 1}};
    }
    trace::SampleBlock block{1, 1, 0, 1, trace::SampleSource::Host, {}};
    block.samples = {{0, 0, 1000, is_loop ? 100u : 50u, 0}, {1, 0, 1050, 50, 0}};
    records.graph_versions = {graph};
    records.replays = {{1, 1, 0, 0, 1, 900, 950, 1000, 1100, 7, 1}};
    records.sample_blocks = {block};
    model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
    builder.add(std::move(records));
    return std::make_unique<PanelFixture>(ImVec2{100, 100}, builder.publish());
  };
  const auto chain = fixture_of(false), loop = fixture_of(true);
  CHECK(chain->replay->path.steps.size() == 2);
  CHECK(is_all_critical(chain->panel_context()));
  CHECK_FALSE(shows_critical_path(chain->panel_context()));
  CHECK(loop->replay->path.steps.size() == 1);  // its nodes belong to the loop
  CHECK_FALSE(is_all_critical(loop->panel_context()));
  CHECK(shows_critical_path(loop->panel_context()));
}

TEST_CASE("timeline layout: other graphs have rows only where they ran") {
  LayoutFixture fixture;
  using Kind = TimelineRow::Kind;
  const model::GraphKey other{8, 1};
  const auto has_rows = [&](Time from, Time to) {
    return fixture.layout({}, RowOrder::Name, 0, from, to).find(Kind::Nodes, 0, 0, other) !=
           nullptr;
  };
  const trace::Replay& replay = fixture.document->find(other)->replays.back();
  CHECK(has_rows(0, 0));
  CHECK(has_rows(replay.started, replay.ended));
  CHECK_FALSE(has_rows(replay.ended + 1000, fixture.document->last));
  // Far from its replays, the graph has no row; the shown one stays.
  const Time last = fixture.entry().replays.back().ended;
  const TimelineLayout far = fixture.layout({}, RowOrder::Name, 0, last - 1000, last);
  CHECK(far.find(Kind::Replays, 0, 0, other) == nullptr);
  CHECK(far.find(Kind::Replays, 0, 0, fixture.view.graph) != nullptr);
  CHECK(far.find(Kind::Queue, 4, 0) != nullptr);
}

TEST_CASE("timeline: the innermost host range at a time") {
  model::GrowingList<trace::HostRange> list;
  HostRowsBuilder builder;
  list.push_back({7, 1, 120, 150, "inner"});
  list.push_back({7, 0, 100, 200, "outer"});
  const HostRows rows = builder.extend(list.view());
  CHECK(host_range_at(rows, 7, 130) == "inner");
  CHECK(host_range_at(rows, 7, 170) == "outer");
  CHECK(host_range_at(rows, 7, 250).empty());
  CHECK(host_range_at(rows, 8, 130).empty());
}

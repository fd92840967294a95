#include "panels/timeline/timeline_ranks.hpp"

#include <doctest/doctest.h>

#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_panel.hpp"
#include "panels/timeline/timeline_visible.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/rank_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::graph_of_rank;
using test::RankDocument;

namespace {

using Kind = TimelineRow::Kind;

struct Ranks : test::PanelFixture {
  explicit Ranks(const RankDocument& desc, std::uint32_t shown = 0, ImVec2 size = {1400, 700})
      : PanelFixture(size, test::make_rank_document(desc)), panel(background) {
    show(graph_of_rank(shown));
  }
  TimelineLayout layout(const TimelineOpened& opened = {}, model::RowsBy by = model::RowsBy::Lane) {
    const model::Activity activity = model::ActivityBuilder().extend(*document);
    const TimelineRanks ranks = make_timeline_ranks(*document, view.graph, activity, {});
    TimelineLevels levels;
    levels.reset(document->samples.get(), by);
    const PanelContext context = panel_context();
    return make_timeline_layout({.context = context,
                                 .levels = levels,
                                 .activity = activity,
                                 .ranks = ranks,
                                 .opened = opened,
                                 .by = by,
                                 .available_height = 600});
  }
  static std::vector<std::string> names(const TimelineLayout& layout, Kind kind) {
    std::vector<std::string> all;
    for (const TimelineRow& row : layout.rows) {
      if (row.kind == kind && !row.label.empty()) all.push_back(row.label);
    }
    return all;
  }
  std::string text_at(ImVec2 at) {
    move_mouse(at);
    return text([&] { draw(panel); });
  }
  // The first tooltip that contains all words, scanning the canvas.
  std::string find_tooltip(std::initializer_list<const char*> words) {
    for (float y = 60; y < 690; y += 5) {
      for (float x = 150; x < 1390; x += 25) {
        const std::string all = text_at({x, y});
        bool has_all = true;
        for (const char* word : words) has_all = has_all && all.find(word) != std::string::npos;
        if (has_all) return all;
      }
    }
    return {};
  }
  TimelinePanel panel;
};

}  // namespace

TEST_CASE("timeline ranks: each rank has a row, in order, with the nodes of the matching graph") {
  Ranks ranks({.ranks = 8});
  const TimelineLayout layout = ranks.layout();
  CHECK(Ranks::names(layout, Kind::Rank) == std::vector<std::string>{"rank 0", "rank 1", "rank 2",
                                                                     "rank 3", "rank 4", "rank 5",
                                                                     "rank 6", "rank 7"});
  const TimelineRow* const third = layout.find(Kind::Rank, 3, 0, graph_of_rank(3));
  REQUIRE(third != nullptr);
  CHECK(third[2].kind == Kind::Nodes);
  CHECK(third[2].graph == graph_of_rank(3));
  CHECK(third->detail == "node3, process 4003");
  CHECK(Ranks::names(layout, Kind::Folded).empty());
  CHECK(layout.rows.front().detail.find("clocks aligned within 4.000 us") != std::string::npos);
  // Threads and queues only of ranks that are open.
  CHECK(Ranks::names(layout, Kind::Queue).empty());
  const TimelineLayout opened = ranks.layout({.graphs = {}, .ranks = {3}});
  CHECK(Ranks::names(opened, Kind::Queue).size() == 1);
  CHECK(opened.find(Kind::Launches, 1003, 0) != nullptr);
  CHECK(opened.find(Kind::Launches, 1002, 0) == nullptr);
}

TEST_CASE("timeline ranks: the rows of a rank are below its active lanes") {
  const TimelineLayout layout = Ranks({.ranks = 16}).layout();  // more rows than fit
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    const TimelineRow* const row = layout.find(Kind::Rank, rank, 0, graph_of_rank(rank));
    REQUIRE(row != nullptr);
    CHECK(row[1].kind == Kind::Active);
    CHECK(row[1].label == "active lanes");
    CHECK(row[2].kind == Kind::Nodes);
    for (const int below : {1, 2}) CHECK(row[below].graph == graph_of_rank(rank));
  }
}

TEST_CASE("timeline ranks: without collectives only the shown rank has nodes") {
  Ranks ranks({.ranks = 8, .has_collectives = false}, 5);
  const TimelineLayout layout = ranks.layout();
  CHECK(Ranks::names(layout, Kind::Rank).size() == 8);
  for (const TimelineRow& row : layout.rows) {
    if (row.kind == Kind::Nodes) CHECK(row.graph == graph_of_rank(5));
  }
  CHECK(layout.find(Kind::Nodes, 0, 0, graph_of_rank(5)) != nullptr);
}

TEST_CASE("timeline ranks: beyond sixteen, those that arrive last are shown and others folded") {
  Ranks ranks({.ranks = 1024, .late = 700}, 3);
  const TimelineLayout folded = ranks.layout();
  const auto names = Ranks::names(folded, Kind::Rank);
  CHECK(names.size() == kMaxShownRanks);
  CHECK(std::find(names.begin(), names.end(), "rank 700") != names.end());
  CHECK(std::find(names.begin(), names.end(), "rank 3") != names.end());
  CHECK(Ranks::names(folded, Kind::Folded) == std::vector<std::string>{"1,008 others"});
  const TimelineLayout all = ranks.layout({.graphs = {}, .ranks = {}, .folded = true});
  CHECK(Ranks::names(all, Kind::Rank).size() == 1024);
  CHECK(Ranks::names(all, Kind::Active).size() == kMaxShownRanks);
  // The unfolded ones have one row each.
  CHECK(all.rows.size() == folded.rows.size() + 1008);
}

TEST_CASE("timeline ranks: a trace of one process has no row of a rank") {
  test::PanelFixture process;
  const model::Activity activity = model::ActivityBuilder().extend(*process.document);
  const TimelineRanks one =
      make_timeline_ranks(*process.document, process.view.graph, activity, {});
  REQUIRE(one.ranks.size() == 1);
  CHECK_FALSE(one.has_ranks());
  CHECK(one.ranks[0].graphs.size() == 2);
  CHECK_FALSE(one.ranks[0].queues.empty());
}

TEST_CASE(
    "timeline ranks: the shown replay of the other ranks is drawn, however many are visible") {
  Ranks ranks({.ranks = 18, .late = 17, .replays = 20});
  const TimelineLayout layout = ranks.layout();
  const TimelineRanks all = make_timeline_ranks(*ranks.document, ranks.view.graph, {}, {});
  const auto drawn = [&](std::uint64_t first, std::uint64_t last) {
    VisibleTimelineDesc desc{.document = *ranks.document, .layout = layout, .ranks = all};
    desc.shown = TimelineData::ReplayKey{graph_of_rank(0), 9};
    desc.from = test::start_of(first);
    desc.to = test::start_of(last) + test::kReplayEnd;
    return replays_with_nodes(desc);
  };
  // Without the shown rank, and without two that are folded.
  const auto one = drawn(9, 9);
  CHECK(one.size() == kMaxShownRanks - 1);
  for (const trace::Replay& replay : one) CHECK(replay.replay == 9);
  CHECK(drawn(8, 9).size() == 2 * kMaxShownRanks - 1);
  CHECK(drawn(1, 20).size() == one.size());
  CHECK(drawn(12, 12).size() == kMaxShownRanks);
}

TEST_CASE("timeline ranks: by worker, nodes of other ranks have rows once they are loaded") {
  Ranks ranks({.ranks = 3});
  const TimelineLayout layout = ranks.layout({}, model::RowsBy::Worker);
  CHECK(Ranks::names(layout, Kind::Nodes).empty());
  const TimelineRanks all = make_timeline_ranks(*ranks.document, ranks.view.graph, {}, {});
  VisibleTimelineDesc desc{.document = *ranks.document, .layout = layout, .ranks = all};
  desc.shown = TimelineData::ReplayKey{graph_of_rank(0), 1};
  desc.from = test::start_of(1);
  desc.to = desc.from + test::kReplayEnd;
  CHECK(replays_with_nodes(desc).size() == 2);
}

TEST_CASE("timeline ranks: the tooltip of a collective tells for whom the rank waits") {
  Ranks ranks({.ranks = 6});
  ranks.settle(ranks.panel);
  ranks.settle(ranks.panel);
  const std::string waits = ranks.find_tooltip({"all-reduce", "rank 4"});
  INFO(waits);
  // Rank 4 arrives 36 us before rank 2.
  test::check_in_order(waits, {"rank 4", "all-reduce", "36.00 us", "rank 2", "20.00 us"});
  CHECK(ranks.find_tooltip({"the others wait for this rank"}).find("rank 2") != std::string::npos);
}

TEST_CASE("timeline ranks: waiting below the error of the clocks is reported as such") {
  Ranks ranks({.ranks = 6, .clock_error = 30'000});
  ranks.settle(ranks.panel);
  ranks.settle(ranks.panel);
  const std::string waits = ranks.find_tooltip({"all-reduce", "rank 4"});
  INFO(waits);
  CHECK(waits.find("below the clock error of 60.00 us") != std::string::npos);
  CHECK(waits.find("36.00 us") == std::string::npos);
}

TEST_CASE("timeline ranks: waits that the clocks do not prove are marked differently") {
  const auto vertices = [](trace::Time clock_error) {
    Ranks ranks({.ranks = 6, .clock_error = clock_error});
    ranks.settle(ranks.panel);
    ranks.settle(ranks.panel);
    return ranks.vertices();
  };
  CHECK(vertices(30'000) < vertices(2'000));  // without the backgrounds of the waits
}

TEST_CASE("timeline ranks: in a reduction only the root waits, for the last one of the others") {
  Ranks ranks({.ranks = 6, .kind = trace::CollectiveKind::Reduce, .root = 4});
  ranks.settle(ranks.panel);
  ranks.settle(ranks.panel);
  const std::string root = ranks.find_tooltip({"rank 4", "reduce of"});
  test::check_in_order(root, {"36.00 us", "rank 2", "20.00 us"});
  const std::string other = ranks.find_tooltip({"rank 1", "reduce of"});
  test::check_in_order(other, {"none: only the root waits", "59.00 us"});
  CHECK(ranks.find_tooltip({"the root waits for this rank"}).find("rank 2") != std::string::npos);
}

TEST_CASE("timeline ranks: a click on the name of the folded ranks shows them") {
  Ranks ranks({.ranks = 18}, 0, {1400, 1400});
  ranks.settle(ranks.panel);
  const auto contents = [&] { ranks.draw(ranks.panel); };
  const auto folded_row = [&](const char* words) {
    for (float y = 60; y < 1390; y += 5) {
      if (ranks.text_at({60, y}).find(words) != std::string::npos) return y;
    }
    return 0.0f;
  };
  const float y = folded_row("Click to show the other ranks");
  REQUIRE(y > 0);
  ranks.click({60, y}, contents);
  CHECK(folded_row("Click to hide the other ranks") > 0);
  CHECK(ranks.is_drawable());
}

TEST_CASE("timeline ranks: 1,024 ranks are drawable in every size") {
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{300, 200}}) {
    Ranks ranks({.ranks = 1024, .late = 700, .replays = 2}, 3, size);
    ranks.settle(ranks.panel);
    CHECK(ranks.is_drawable());
    CHECK(ranks.vertices() < 40'000);
  }
}

#include <doctest/doctest.h>

#include <cmath>

#include "panels/replays/replays_panel.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::PanelFixture;

namespace {

constexpr float kInStrip = 50;  // a y position inside the bars

struct Strip : PanelFixture {
  explicit Strip(std::shared_ptr<const model::Document> source, ImVec2 size = {1600, 106})
      : PanelFixture(size, std::move(source)), panel(background) {
    settle(panel);
  }
  void draw_frame() {
    window([&] { draw(panel); });
  }
  // The replay at x; 0: none.
  std::uint64_t replay_at(float x) {
    move_mouse({x, kInStrip});
    view.hovered = {};
    draw_frame();
    const auto* const hovered = std::get_if<model::SelectedReplay>(&view.hovered);
    return hovered == nullptr ? 0 : hovered->replay;
  }
  // An x position over the replay.
  float x_of(std::uint64_t number) {
    for (float x = 60; x < ImGui::GetIO().DisplaySize.x; x += 1) {
      if (replay_at(x) == number) return x;
    }
    FAIL("the strip does not show replay " << number);
    return 0;
  }

  // An x position over the last bar.
  float x_of_end() {
    for (float x = ImGui::GetIO().DisplaySize.x; x > 60; x -= 1) {
      if (replay_at(x) != 0) return x;
    }
    FAIL("the strip shows no replay");
    return 0;
  }

  ReplaysPanel panel;
};

// A growing live session. All documents share the graph.
struct Session {
  std::shared_ptr<const model::Document> grown_to(std::uint64_t count) {
    trace::Records records;
    if (last == 0) records.graph_versions.push_back(test::make_chain_graph());
    while (last < count) records.replays.push_back(test::make_replay(++last, 100'000));
    builder.add(std::move(records));
    return builder.publish();
  }
  model::DocumentBuilder builder{std::make_shared<model::SampleStore>()};
  std::uint64_t last = 0;
};

}  // namespace

TEST_CASE("replays panel: a click on a bar selects and shows its replay") {
  Strip strip(test::make_replays_document(50));
  const float x = strip.x_of(31);
  strip.click({x, kInStrip}, [&] { strip.draw(strip.panel); });
  CHECK(strip.view.replay == 31u);
  const auto* const selected = std::get_if<model::SelectedReplay>(&strip.view.selection);
  REQUIRE(selected != nullptr);
  CHECK(selected->replay == 31);
  CHECK(selected->graph == test::kManyReplays);
  CHECK(!strip.view.has_range());
}

TEST_CASE(
    "replays panel: a drag selects a range, and a drag of a range handle moves only that end") {
  Strip strip(test::make_replays_document(50));
  const float from = strip.x_of(11), to = strip.x_of(20);
  const auto contents = [&] { strip.draw(strip.panel); };
  strip.drag({from, kInStrip}, {to, kInStrip}, contents);
  CHECK(strip.view.range.first == 10);
  CHECK(strip.view.range.count == 10);
  CHECK(std::holds_alternative<std::monostate>(strip.view.selection));  // a drag is not a click
  // The range ends at the start of replay 21.
  strip.view.range = {10, 10};
  const float end = strip.x_of(21), further = strip.x_of(35);
  strip.drag({end, kInStrip}, {further, kInStrip}, contents);
  CHECK(strip.view.range.first == 10);
  CHECK(strip.view.range.count == 25);
}

TEST_CASE("replays panel: the menu of a replay sets an end of the range") {
  Strip strip(test::make_replays_document(50), {1600, 280});
  const auto contents = [&] { strip.draw(strip.panel); };
  const auto choose = [&](std::uint64_t number, const char* item) {
    strip.click({strip.x_of(number), kInStrip}, contents, 1);
    strip.choose(item, contents);
  };
  choose(11, "Range starts here");
  CHECK(strip.view.range.first == 10);
  CHECK(strip.view.range.count == 40);
  choose(20, "Range ends here");
  CHECK(strip.view.range.first == 10);
  CHECK(strip.view.range.count == 10);
  choose(15, "Show in Timeline");
  CHECK(strip.view.replay == 15);
  CHECK(strip.view.upper == View::Timeline);
  choose(15, "Save replays as CSV");
  REQUIRE(strip.view.save.has_value());
  CHECK(strip.view.save->name == "replays.csv");
  const std::string& csv = strip.view.save->contents;
  CHECK(csv.rfind("replay,launched (ns),device time (ns),launch call (ns),latency (ns),gap (ns),"
                  "sampled\r\n11,",
                  0) == 0);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 10);  // the range
}

TEST_CASE("replays panel: the wheel zooms at the cursor") {
  Strip strip(test::make_replays_document(4000));
  const float x = 700;
  const std::uint64_t before = strip.replay_at(x), beside = strip.replay_at(x + 100);
  for (int i = 0; i < 12; ++i) {
    strip.move_mouse({x, kInStrip});
    strip.wheel(1);
    strip.draw_frame();
  }
  const std::uint64_t after = strip.replay_at(x), beside_after = strip.replay_at(x + 100);
  // Before the zoom a bar covers several replays; the cursor stays on one of them.
  CHECK(std::abs(static_cast<double>(after) - static_cast<double>(before)) <= 8);
  CHECK(beside_after - after < (beside - before) / 4);
}

TEST_CASE("replays panel: a click finds a single outlier among 100,000 replays") {
  constexpr std::uint64_t kOutlier = 61'803;
  Strip strip(test::make_replays_document(100'000, [](trace::Replay& r) {
    if (r.replay == kOutlier) r.ended = r.started + 9'000'000;
  }));
  const float x = strip.x_of(kOutlier);
  strip.click({x, kInStrip}, [&] { strip.draw(strip.panel); });
  CHECK(strip.view.replay == kOutlier);
  CHECK(strip.is_drawable());
  CHECK(strip.vertices() < 60'000);  // proportional to columns, not to replays
}

TEST_CASE("replays panel: without device times the strip shows launch calls and reports it") {
  Strip strip(test::make_replays_document(20, [](trace::Replay& r) { r.started = r.ended = 0; }));
  strip.move_mouse({strip.x_of(5), kInStrip});
  const std::string text = strip.text([&] { strip.draw(strip.panel); });
  CHECK(text.find("3.000 us") != std::string::npos);  // its launch call, in the tooltip
  CHECK(text.find("unknown") != std::string::npos);
}

TEST_CASE("replays panel: a live strip follows the newest replays until the user pans away") {
  Session session;
  Strip strip(session.grown_to(2000));
  strip.is_live = true;
  for (int i = 0; i < 25; ++i) {  // zooms in at the right end
    strip.move_mouse({strip.x_of_end() - 1, kInStrip});
    strip.wheel(1);
    strip.draw_frame();
  }
  strip.document = session.grown_to(2100);
  strip.settle(strip.panel);
  CHECK(strip.view.follow);
  CHECK(strip.x_of(2100) > 0);

  strip.drag(
      {700, kInStrip}, {1300, kInStrip}, [&] { strip.draw(strip.panel); }, 1);  // away from the end
  CHECK(!strip.view.follow);
  const std::uint64_t here = strip.replay_at(700);
  REQUIRE(here != 0);
  strip.document = session.grown_to(2200);
  strip.settle(strip.panel);
  CHECK(strip.replay_at(700) == here);
}

TEST_CASE(
    "replays panel: the view shows quantiles, and a click on the histogram selects durations") {
  // Ten slow replays in a row.
  Strip strip(test::make_replays_document(400,
                                          [](trace::Replay& r) {
                                            if (r.replay > 200 && r.replay <= 210)
                                              r.ended = r.started + 900'000;
                                          }),
              {1600, 620});
  const std::string text = strip.text([&] { strip.draw(strip.panel); });
  for (const char* const part :
       {"device time", "launch call", "launch-to-start", "p99", "900.0 us", "All replays"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const std::string csv = strip.csv(strip.panel);
  CHECK(csv.rfind("interval,p50 (ns),p90 (ns),p99 (ns),max (ns),mean (ns),replays,", 0) == 0);
  CHECK(csv.find("\r\ndevice time,") != std::string::npos);
  CHECK(csv.find(",900000,") != std::string::npos);
  // The overflow bin at the right end of the histogram holds them.
  const auto contents = [&] { strip.draw(strip.panel); };
  float right = 0;
  for (float x = 300; x < 900 && right == 0; x += 4) {
    strip.move_mouse({x, 560});
    if (strip.text(contents).find("10 replays: ") != std::string::npos) right = x;
  }
  REQUIRE(right != 0);
  strip.click({right, 560}, contents);
  for (int i = 0; i < 3; ++i) strip.settle(strip.panel);
  CHECK(strip.view.range.covers_all_indices());
  REQUIRE(strip.view.range.durations);
  CHECK(strip.view.range.durations->max >= 900'000);
  CHECK(strip.view.range.durations->min > 110'000);
  strip.move_mouse({5, 5});
  CHECK(strip.text(contents).find("10 of 400 replays") != std::string::npos);
  CHECK(strip.text(contents).find("Compare with the rest") != std::string::npos);
  // Without the selection, as after Esc, the histogram shows none.
  strip.view.range = {};
  strip.settle(strip.panel);
  CHECK(strip.text(contents).find("10 of 400 replays") == std::string::npos);
}

TEST_CASE("replays panel: a narrow table shows fewer columns, each with its unit") {
  Strip wide(test::make_replays_document(50), {1600, 620});
  CHECK(wide.text([&] { wide.draw(wide.panel); }).find("mean") != std::string::npos);
  Strip narrow(test::make_replays_document(50), {700, 620});
  const std::string text = narrow.text([&] { narrow.draw(narrow.panel); });
  CHECK(text.find("mean") == std::string::npos);
  CHECK(text.find("p99") != std::string::npos);
  CHECK(text.find("outliers") != std::string::npos);
}

TEST_CASE("replays panel: the strip and the view zoom independently and share the range") {
  PanelFixture fixture({1600, 106}, test::make_replays_document(400));
  ReplaysPanel panel(fixture.background);
  struct StripOnly {
    ReplaysPanel& panel;
    void draw(PanelContext& context) { panel.draw_strip(context); }
  } strip{panel};
  fixture.settle(strip);
  const std::string text = fixture.text([&] { fixture.draw(strip); });
  CHECK(text.find("p99") == std::string::npos);  // no table of quantiles
  const auto draw_strip = [&] { fixture.draw(strip); };
  fixture.drag({400, kInStrip}, {800, kInStrip}, draw_strip);
  REQUIRE(fixture.view.has_range());
  const model::ReplayRange range = fixture.view.range;
  fixture.settle(panel);
  CHECK(fixture.view.range == range);
}

TEST_CASE("replays panel: shows a placeholder without replays, and draws at every size") {
  PanelFixture empty({1600, 106}, test::make_replays_document(0));
  ReplaysPanel panel(empty.background);
  empty.show(test::kManyReplays);
  CHECK(empty.text([&] { empty.draw(panel); }).find("No replays of many yet") != std::string::npos);
  for (const ImVec2 size : {ImVec2{1600, 106}, ImVec2{400, 300}, ImVec2{120, 60}, ImVec2{900, 260},
                            ImVec2{1600, 900}}) {
    PanelFixture fixture(size, test::recorded_document());
    ReplaysPanel drawn(fixture.background);
    fixture.settle(drawn);
    CHECK(fixture.is_drawable());
  }
}

#include <doctest/doctest.h>

#include "model/document_builder.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/search_box.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/widgets/toolbar.hpp"
#include "panels/workspace/file_dialog.hpp"
#include "panels/workspace/status_line.hpp"
#include "panels/workspace/top_bar.hpp"
#include "support/contains.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

using test::contains;

namespace {

struct BarTest {
  explicit BarTest(float width) : fixture({width, 60}) {
    figures = make_replay_summary(fixture.entry(), {}, RateOver::Range);
  }
  void draw() {
    PanelContext context = fixture.panel_context();
    actions = bar.draw(context,
                       {.status = status, .figures = &figures, .matches = 2, .restart = restart});
  }
  std::string text() {
    return fixture.text([this] { draw(); });
  }

  PanelFixture fixture;
  model::FeedStatus status{.state = model::FeedState::Ready};
  ReplaySummary figures;
  std::string restart;
  TopBar bar;
  TopBarActions actions;
};

std::shared_ptr<const model::Document> with_costs(
    const std::vector<trace::ProfilingOverhead>& costs,
    const std::vector<trace::Message>& messages = {}) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.profiling_overheads = costs;
  records.messages = messages;
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("top bar: a narrow bar hides the segments with the lowest rank first") {
  BarTest wide(1600);
  const std::string all = wide.text();
  for (const char* part : {"hand-made.reprise", "replays/s", "p50", "p99", "lost", "12"}) {
    CAPTURE(part);
    CHECK(contains(all, part));
  }
  BarTest narrow(520);
  const std::string few = narrow.text();
  CHECK_FALSE(contains(few, "hand-made.reprise"));
  CHECK(contains(few, "lost"));
  BarTest tiny(60);
  (void)tiny.text();
  CHECK(tiny.fixture.is_drawable());
}

TEST_CASE("top bar: a trace that is not whole says so") {
  BarTest t(1600);
  CHECK_FALSE(contains(t.text(), "incomplete"));
  t.fixture.incomplete = "the file ends in a chunk";
  CHECK(contains(t.text(), "incomplete"));
}

TEST_CASE("top bar: a live session shows its application, and drawing requests no action") {
  BarTest t(1600);
  t.fixture.is_live = true;
  t.status.state = model::FeedState::Live;
  t.status.allowed = trace::LiveProfile::Sampled;
  t.status.requested_profile = trace::LiveProfile::Replays;
  CHECK(contains(t.text(), "digits"));
  CHECK(contains(t.text(), "replays/s"));
  CHECK_FALSE(t.actions.profile);
  CHECK_FALSE(t.actions.close);
}

TEST_CASE(
    "top bar: the profiler's CPU time is that of the last records of the mode, and a measured cost "
    "is beside it") {
  const auto document =
      with_costs({{0, 1'000, 3, 900, 900}, {1'000, 2'000, 2, 10, 2}, {2'000, 3'000, 2, 2, 0}});
  const ProfileText text = profile_text(*document, {});
  CHECK(text.mode == "sampled");
  CHECK(text.cost == doctest::Approx(0.006));
  CHECK(text.cost_text == "CPU time 0.6 %");
  CHECK_FALSE(contains(text.hint, "Measured"));
  const auto measured = with_costs(
      {{0, 1'000, 1, 10, 0}}, {{0, trace::Severity::Info, "run.cost", "observing costs +2.0 %"}});
  CHECK(contains(profile_text(*measured, {}).hint, "Measured: observing costs +2.0 %."));
  CHECK(profile_text(*with_costs({}), {}).mode.empty());
  CHECK(profile_text(*with_costs({}), {.requested_profile = trace::LiveProfile::Every}).mode ==
        "every");
}

TEST_CASE("profile text: how to get node times depends on who recorded the trace") {
  const auto observed = with_costs({}, {{0, trace::Severity::Info, "run.cupti", "one client"}});
  CHECK(contains(node_times_hint(*observed), "reprise run --nodes"));
  CHECK(contains(node_times_hint(*with_costs({})), "REPRISE_PROFILE"));
}

TEST_CASE("status line: each state of a feed has its text") {
  const PanelFixture fixture;
  const auto state_text = [&](model::FeedStatus status) {
    return feed_text(fixture.theme, status, "x.reprise").state;
  };
  CHECK(state_text({.state = model::FeedState::Opening}) == "opening x.reprise");
  CHECK(state_text({.state = model::FeedState::Loading, .progress = 0.42}) == "loading, 42.0 %");
  CHECK(state_text({.state = model::FeedState::Ready}) == "ready");
  CHECK(state_text({.state = model::FeedState::Ready, .reason = "cut off"}) == "partially loaded");
  CHECK(state_text({.state = model::FeedState::Live}) == "live");
  CHECK(state_text({.state = model::FeedState::Ended}) == "program exited");
  CHECK(state_text({.state = model::FeedState::Failed}) == "failed");
  CHECK(feed_text(fixture.theme, {.state = model::FeedState::Ended}, {}).reason ==
        "all received data is shown");
}

TEST_CASE("status line: the selected range is shown, and its cross clears it") {
  PanelFixture fixture({1600, 24});
  fixture.view.range = {4, 10};
  const auto draw = [&] {
    ImGui::SetCursorPos({0, 0});
    PanelContext context = fixture.panel_context();
    (void)draw_status(
        context, {.status = {.state = model::FeedState::Ready}, .figures = nullptr, .error = {}});
  };
  CHECK(contains(fixture.text(draw), "range: 10 replays, 5 to 14"));
  for (float x = 100; x < 600 && fixture.view.has_range(); x += 8) fixture.click({x, 12}, draw);
  CHECK_FALSE(fixture.view.has_range());
}

TEST_CASE("search box: typed text sets the filter, and the cross clears it") {
  PanelFixture fixture({400, 60});
  int find = 0;
  std::string error;
  const auto draw = [&] {
    PanelContext context = fixture.panel_context();
    find = draw_search_box(context, {3, error}, 300);
  };
  fixture.view.focus_search = true;
  fixture.window(draw);
  fixture.window(draw);
  CHECK_FALSE(fixture.view.focus_search);
  fixture.type("load");
  fixture.window(draw);
  CHECK(fixture.view.filter.text == "load");
  CHECK(find == 0);
  error = "there is no key \"lod\"";
  const int without = (fixture.window(draw), fixture.vertices());
  error.clear();
  fixture.window(draw);
  CHECK(fixture.vertices() != without);
  fixture.view.filter.kinds = 1;
  fixture.click({296, 20}, draw);
  CHECK(fixture.view.filter.is_empty());
}

TEST_CASE("search box: its buttons keep their places when a filter begins and ends") {
  PanelFixture fixture({400, 600});
  const auto draw = [&] {
    PanelContext context = fixture.panel_context();
    (void)draw_search_box(context, {3}, 300);
  };
  const auto opens_menu = [&] {
    fixture.click({300 - 3.5f * ImGui::GetFrameHeight(), 20}, draw);
    const bool is_open = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    fixture.click({390, 590}, draw);
    return is_open;
  };
  fixture.window(draw);
  CHECK(opens_menu());
  fixture.view.filter.text = "load";
  CHECK(opens_menu());
}

TEST_CASE("tabs: a row that is too narrow has a menu of all tabs") {
  PanelFixture fixture({200, 300});
  const std::vector<Tab> tabs = {{"Overview", "", {}, 0},
                                 {"Second tab", "", {}, 0},
                                 {"Third tab", "", "12", fixture.theme.warning}};
  std::size_t chosen = 0;
  const auto draw = [&] {
    chosen =
        draw_tabs(fixture.theme, "tabs", tabs, chosen, ImGui::GetContentRegionAvail().x).chosen;
  };
  CHECK_FALSE(contains(fixture.text(draw), "Third tab (12)"));
  for (float x = 199; x > 150; x -= 6) {
    fixture.click({x, 22}, draw);
    if (contains(fixture.text(draw), "Third tab (12)")) break;
  }
  REQUIRE(contains(fixture.text(draw), "Third tab (12)"));
  // The menu opens at the click; its last item is the third tab.
  const float padding = ImGui::GetStyle().WindowPadding.y,
              line = ImGui::GetTextLineHeightWithSpacing();
  fixture.click({170, 22 + padding + 2.5f * line}, draw);
  CHECK(chosen == 2);
}

TEST_CASE("toolbar: controls that do not fit are in a menu") {
  PanelFixture fixture({260, 300});
  int clicked = -1;
  const auto draw = [&] {
    ImGui::TextUnformatted("bar");
    Toolbar bar(fixture.theme, "bar");
    for (int i = 0; i < 4; ++i) {
      const std::string name = "control " + std::to_string(i);
      if (bar.place(80) && ImGui::Button(name.c_str(), {80, 0})) clicked = i;
    }
  };
  CHECK_FALSE(contains(fixture.text(draw), "control 3"));
  CHECK(contains(fixture.text(draw), "control 1"));
  for (float x = 120; x < 260 && !contains(fixture.text(draw), "control 3"); x += 8)
    fixture.click({x, 16}, draw);
  const std::string text = fixture.text(draw);
  REQUIRE(contains(text, "control 2"));
  REQUIRE(contains(text, "control 3"));
  clicked = -1;
  for (float y = 30; y < 200 && clicked != 3; y += 6) fixture.click({225, y}, draw);
  CHECK(clicked == 3);
  fixture.resize({600, 300});
  CHECK(contains(fixture.text(draw), "control 3"));  // on the line
}

TEST_CASE("tabs: a click selects a tab, and tabs with badges draw") {
  PanelFixture fixture({500, 60});
  const std::vector<Tab> tabs = {
      {"One", "", {}, 0}, {"Two", "", "12", fixture.theme.warning}, {"Three", "", {}, 0}};
  std::size_t chosen = 0;
  const auto draw = [&] { chosen = draw_tabs(fixture.theme, "tabs", tabs, chosen, 400).chosen; };
  fixture.click({60, 20}, draw);
  CHECK(chosen == 1);
  fixture.click({20, 20}, draw);
  CHECK(chosen == 0);
  CHECK(fixture.is_drawable());
}

TEST_CASE("top bar: a session whose program runs again offers to attach, and can be recorded") {
  BarTest t(1600);
  t.fixture.is_live = true;
  t.status.state = model::FeedState::Ended;
  CHECK_FALSE(contains(t.text(), "Attach"));
  CHECK_FALSE(contains(t.text(), "replays/s"));
  t.restart = "process 4711";
  CHECK(contains(t.text(), "Attach to process 4711"));
  const auto click_until = [&](float from, float to, float step, const bool& done) {
    const auto draw = [&] { t.draw(); };
    for (float x = from; step > 0 ? x < to : x > to; x += step) {
      t.fixture.move_mouse({x, 20});
      t.fixture.window(draw);
      t.fixture.hold_button(0);
      t.fixture.window(draw);
      t.fixture.release_button(0);
      t.fixture.window(draw);
      if (done) return true;
    }
    return false;
  };
  CHECK(click_until(100, 700, 12, t.actions.attach));
  CHECK(click_until(1595, 1300, -8, t.actions.record));
}

TEST_CASE("file dialog: it writes, shows the error, and discards only if asked before") {
  PanelFixture fixture({800, 500});
  FileDialog dialog;
  FileChoice choice = FileChoice::None;
  std::string error;
  const auto draw = [&] {
    const FileChoice now = dialog.draw(fixture.theme, error);
    if (now != FileChoice::None) choice = now;
  };
  FileDialogDesc desc{.title = "Record to file",
                      .action = "Record",
                      .explanation = "",
                      .path = "/traces/digits-7.reprise"};
  dialog.open(desc);
  for (int i = 0; i < 3; ++i) fixture.window(draw);
  std::string text = fixture.text(draw);
  CHECK(contains(text, "Record"));
  CHECK_FALSE(contains(text, "Discard"));
  // Clicks from left to right, at each height, until the dialog returns a choice.
  const auto click_buttons = [&](float from) {
    choice = FileChoice::None;
    for (float y = 150; y < 350 && choice == FileChoice::None; y += 6)
      fixture.click({from, y}, draw);
    return choice;
  };
  const float left = 400 - 280 + 24;
  CHECK(click_buttons(left) == FileChoice::Write);
  CHECK(dialog.path() == "/traces/digits-7.reprise");
  error = "disk full";
  CHECK(contains(fixture.text(draw), "disk full"));  // the dialog is still open
  dialog.close();
  for (int i = 0; i < 3; ++i) fixture.window(draw);
  CHECK_FALSE(contains(fixture.text(draw), "disk full"));
  error.clear();
  desc.discarded = "digits is not recorded.";
  dialog.open(desc);
  for (int i = 0; i < 3; ++i) fixture.window(draw);
  text = fixture.text(draw);
  CHECK(contains(text, "digits is not recorded."));
  CHECK(contains(text, "Discard"));
  CHECK(click_buttons(left + 66) == FileChoice::Discard);
}

TEST_CASE("top bar: its menu exports the trace of a file in each format of reprise export") {
  BarTest t(1600);
  const auto draw = [&] { t.draw(); };
  for (const auto& [item, format] : {std::pair{"Perfetto", "perfetto"}, std::pair{"CSV", "csv"},
                                     std::pair{"SQLite", "sqlite"}, std::pair{"DOT", "dot"}}) {
    t.fixture.resize({1600, 300});
    for (float x = 1590; x > 1400 && !contains(t.text(), "SQLite"); x -= 8)
      t.fixture.click({x, 30}, draw);
    REQUIRE(contains(t.text(), "SQLite"));
    t.fixture.choose(item, draw);
    CHECK(t.fixture.view.export_trace == format);
    t.fixture.view.export_trace.reset();
  }
}

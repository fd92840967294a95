#include <doctest/doctest.h>

#include "model/document_builder.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/search_box.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/workspace/status_line.hpp"
#include "panels/workspace/top_bar.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

namespace {

struct BarTest {
  explicit BarTest(float width) : fixture({width, 60}) {
    figures = make_replay_summary(fixture.entry(), {}, RateOver::Range);
  }
  std::string text() {
    return fixture.text([this] {
      PanelContext context = fixture.panel_context();
      actions = bar.draw(context, {.status = status, .figures = &figures, .matches = 2});
    });
  }

  PanelFixture fixture;
  model::FeedStatus status{.state = model::FeedState::Ready};
  ReplaySummary figures;
  TopBar bar;
  TopBarActions actions;
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::shared_ptr<const model::Document> with_costs(
    const std::vector<trace::ProfilingOverhead>& costs) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.profiling_overheads = costs;
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("top bar: a narrow bar hides the segments with the lowest rank first") {
  BarTest wide(1600);
  const std::string all = wide.text();
  for (const char* part : {"hand-made.reprise", "replays/s", "p50", "p99", "lost", "12"}) {
    CAPTURE(part);
    CHECK(has(all, part));
  }
  BarTest narrow(520);
  const std::string few = narrow.text();
  CHECK_FALSE(has(few, "hand-made.reprise"));
  CHECK(has(few, "lost"));
  BarTest tiny(60);
  (void)tiny.text();
  CHECK(tiny.fixture.is_drawable());
}

TEST_CASE("top bar: a live session shows its application, and drawing requests no action") {
  BarTest t(1600);
  t.fixture.is_live = true;
  t.status.state = model::FeedState::Live;
  t.status.allowed = trace::LiveProfile::Sampled;
  t.status.requested_profile = trace::LiveProfile::Replays;
  CHECK(has(t.text(), "digits"));
  CHECK_FALSE(t.actions.profile);
  CHECK_FALSE(t.actions.close);
}

TEST_CASE(
    "top bar: the overhead is the larger of host and device over the last records of the mode") {
  const auto document =
      with_costs({{0, 1'000, 3, 900, 900}, {1'000, 2'000, 2, 10, 2}, {2'000, 3'000, 2, 2, 0}});
  const ProfileText text = profile_text(*document, {});
  CHECK(text.mode == "sampled");
  CHECK(text.cost == doctest::Approx(0.006));
  CHECK(text.cost_text == "+0.6 %");
  CHECK(profile_text(*with_costs({}), {}).mode.empty());
  CHECK(profile_text(*with_costs({}), {.requested_profile = trace::LiveProfile::Every}).mode ==
        "every");
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
  CHECK(state_text({.state = model::FeedState::Ended}) == "session ended");
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
    draw_status(context,
                {.status = {.state = model::FeedState::Ready}, .figures = nullptr, .error = {}});
  };
  CHECK(has(fixture.text(draw), "range: 10 replays, 5 to 14"));
  for (float x = 100; x < 600 && fixture.view.has_range(); x += 8) fixture.click({x, 12}, draw);
  CHECK_FALSE(fixture.view.has_range());
}

TEST_CASE("search box: typed text sets the filter, and the cross clears it") {
  PanelFixture fixture({400, 60});
  int find = 0;
  const auto draw = [&] {
    PanelContext context = fixture.panel_context();
    find = draw_search_box(context, 3, 300);
  };
  fixture.view.focus_search = true;
  fixture.window(draw);
  fixture.window(draw);
  CHECK_FALSE(fixture.view.focus_search);
  fixture.type("load");
  fixture.window(draw);
  CHECK(fixture.view.filter.text == "load");
  fixture.view.filter.kinds = 1;
  fixture.click({296, 20}, draw);
  CHECK(fixture.view.filter.is_empty());
}

TEST_CASE("tabs: a click selects a tab, and tabs with badges draw") {
  PanelFixture fixture({500, 60});
  const std::vector<Tab> tabs = {
      {"One", "", {}, 0}, {"Two", "", "12", fixture.theme.warning}, {"Three", "", {}, 0}};
  std::size_t chosen = 0;
  const auto draw = [&] { chosen = draw_tabs(fixture.theme, "tabs", tabs, chosen, 400); };
  fixture.click({60, 20}, draw);
  CHECK(chosen == 1);
  fixture.click({20, 20}, draw);
  CHECK(chosen == 0);
  CHECK(fixture.is_drawable());
}

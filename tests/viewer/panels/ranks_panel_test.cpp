#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include <imgui_internal.h>

#include "panels/compare/compare_choice.hpp"
#include "panels/compare/compare_panel.hpp"
#include "panels/ranks/ranks_chart.hpp"
#include "panels/ranks/ranks_panel.hpp"
#include "panels/ranks/ranks_tables.hpp"
#include "panels/ranks/ranks_view_model.hpp"
#include "support/contains.hpp"
#include "viewer/merged_job.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::check_in_order;
using test::contains;
using test::PanelFixture;

namespace {

// Rank 1 is 40 us late at the second collective.
test::HandMadeJob late_job(std::uint32_t ranks) {
  test::HandMadeRanks options = test::aligned_ranks();
  options.ranks = ranks;
  options.stragglers = {{.rank = 1, .step = 1, .delay = 40'000}};
  return test::HandMadeJob(options);
}

struct RanksFixture : PanelFixture {
  explicit RanksFixture(std::uint32_t ranks = 4, ImVec2 size = {1'500, 700},
                        trace::Time error = 5'000)
      : PanelFixture(size, test::merged_document(late_job(ranks), error)), panel(background) {
    settle(panel);
  }
  std::string panel_text() {
    settle(panel);
    CHECK(is_drawable());
    return text([&] { draw(panel); });
  }
  void click_at(ImVec2 at, int button = 0) {
    click(
        at, [&] { draw(panel); }, button);
    settle(panel);
  }
  // The rectangle of an item in any window, found by its position under the mouse.
  [[nodiscard]] const ImGuiTable& table(std::size_t columns) const {
    ImPool<ImGuiTable>& tables = ImGui::GetCurrentContext()->Tables;
    for (int i = 0; i < tables.GetMapSize(); ++i) {
      const ImGuiTable* const found = tables.TryGetMapData(i);
      if (found != nullptr && found->ColumnsCount == static_cast<int>(columns)) return *found;
    }
    throw std::out_of_range("no such table");
  }
  [[nodiscard]] ImVec2 row_of(std::size_t columns, int row) const {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    const float height = std::round(context.FontSize + 2 * context.Style.CellPadding.y);
    const ImRect rect = table(columns).OuterRect;
    return {rect.Min.x + 40, rect.Min.y + height * (static_cast<float>(row) + 1.5f)};
  }
  RanksPanel panel;
};

constexpr std::size_t kRankColumnCount = 8, kCollectiveColumnCount = 10;

model::CollectiveExecutions executions_with(std::uint32_t ranks) {
  model::CollectiveExecutions all;
  model::CollectiveExecution e;
  e.count = ranks;
  e.last = ranks - 1;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const trace::Time started = 1'000 + 10 * static_cast<trace::Time>(r);
    all.arrivals.push_back({r, started, 5'000, 1'000 + 10 * (ranks - 1) - started});
  }
  all.executions = {e};
  return all;
}

}  // namespace

TEST_CASE("ranks view model: few ranks have a bar each, relative to the last arrival") {
  const auto all = executions_with(16);
  const auto bars = rank_bars(all, all.executions[0], 16);
  REQUIRE(bars.size() == 16);
  CHECK(bars[0].rank == 0);
  CHECK(bars[0].arrived == -150);
  CHECK(bars[0].waited_until == 0);
  CHECK(bars[0].ended == 5'000 - 1'150);
  CHECK(bars[15].arrived == 0);
}

TEST_CASE("ranks view model: of many ranks the last have a bar each, the others are a range") {
  const auto all = executions_with(1'024);
  const auto bars = rank_bars(all, all.executions[0], 16);
  REQUIRE(bars.size() == 17);
  for (std::uint32_t i = 0; i < 16; ++i) CHECK(bars[i].rank == 1'023 - i);
  CHECK(bars[16].rank == trace::kNone);
  CHECK(bars[16].ranks == 1'024 - 16);
  CHECK(bars[16].arrived == -10'230);
  CHECK(bars[16].last_arrived == -160);
  CHECK(bars[16].waited_until == 0);
}

TEST_CASE("ranks panel: ranks whose clocks agree exactly have one clock") {
  CHECK(contains(RanksFixture(4, {1'500, 700}, 0).panel_text(), "all ranks have one clock"));
}

TEST_CASE("ranks panel: shows the ranks, the collectives and the error of the clocks") {
  RanksFixture f;
  const std::string text = f.panel_text();
  CHECK(contains(text, "4 ranks"));
  CHECK(contains(text, "clock of rank 0, two ranks agree within 5.000 us"));
  CHECK(contains(text, "rank 1 arrived last in"));
  check_in_order(text,
                 {"rank 1", "node0", "4  all-reduce", "step", "forward +", "rank 1, 100.0 %"});
  CHECK(contains(text, "rank 1 was last"));
  const std::string csv = f.csv(f.panel);
  CHECK(contains(csv, "Others waited (ns)"));
}

TEST_CASE("ranks panel: a narrow one shows one table, with a choice") {
  RanksFixture f(4, {800, 500});
  const std::string text = f.panel_text();
  CHECK(contains(text, "| rank 1 | node0 |"));
  CHECK_FALSE(contains(text, "4  all-reduce"));
  CHECK(contains(text, "all-reduce of step, replay 40"));
}

TEST_CASE("ranks panel: times within the error of the clocks are marked") {
  RanksFixture f(4, {1'500, 700}, 200'000);
  const std::string text = f.panel_text();
  CHECK(contains(text, "~rank 1, 100.0 %"));
  CHECK(contains(text, "rank 1 was perhaps last"));
  CHECK(contains(RanksFixture(4, {1'500, 700}, trace::kUnknownError).panel_text(),
                 "some ranks have no error bound"));
}

TEST_CASE("ranks panel: a click on a collective selects its node and shows its executions") {
  RanksFixture f;
  CHECK(contains(f.panel_text(), "all-reduce of step, replay 40"));
  f.click_at(f.row_of(kCollectiveColumnCount, 1));  // the one without a straggler
  CHECK(f.view.selection == model::Selection(model::SelectedNode{f.view.graph, 1}));
}

TEST_CASE("ranks panel: a click on a rank shows its graph") {
  RanksFixture f;
  f.click_at(f.row_of(kRankColumnCount, 0));  // others waited most for rank 1
  CHECK(f.view.graph == model::GraphKey{1, 1});
}

TEST_CASE("ranks panel: a click on an execution selects its replay for all panels") {
  RanksFixture f;
  const auto clicked_at = [&](ImVec2 at) {
    f.view.selection = {};
    f.click_at(at);
    const auto* const replay = std::get_if<model::SelectedReplay>(&f.view.selection);
    return replay == nullptr ? 0 : replay->replay;
  };
  float y = 100;
  while (y < 690 && clicked_at({300, y}) == 0) y += 12;
  REQUIRE(y < 690);
  std::set<std::uint64_t> replays;
  for (float x = 120; x < 900; x += 60) {
    const std::uint64_t replay = clicked_at({x, y});
    if (replay == 0) continue;
    CHECK(f.view.replay == replay);
    CHECK(contains(f.panel_text(), "replay " + std::to_string(replay)));
    replays.insert(replay);
  }
  CHECK(replays.size() >= 5);
}

TEST_CASE("ranks panel: the menu of a rank compares it with another one") {
  RanksFixture f;
  const auto contents = [&] { f.draw(f.panel); };
  f.click(f.row_of(kRankColumnCount, 0), contents, 1);
  f.choose("Compare with", contents);
  f.choose("rank 3", contents);
  CHECK(f.view.compare_a == model::GraphKey{3, 1});
  CHECK(f.view.compare_b == model::GraphKey{1, 1});
  CHECK(f.view.front == View::Compare);
  const PanelContext context = f.panel_context();
  CHECK(section_text(context, {CompareTrace::Shown, *f.view.compare_a, {}}) ==
        "step, rank 3, version 1, all 40 replays");
  ComparePanel compare(f.background);
  f.settle(compare);
  CHECK(contains(f.text([&] { f.draw(compare); }), "step, rank 1, version 1"));
}

TEST_CASE("ranks panel: a trace without collectives has a note") {
  PanelFixture f({900, 500});
  RanksPanel panel(f.background);
  f.settle(panel);
  const std::string text = f.text([&] { f.draw(panel); });
  CHECK(contains(text, "No collectives"));
  CHECK(contains(text, "reprise merge"));
}

TEST_CASE("ranks panel: draws at every size, with any number of ranks") {
  for (const std::uint32_t ranks : {2u, 4u, 40u}) {
    for (const ImVec2 size : {ImVec2{120, 80}, ImVec2{400, 300}, ImVec2{1'000, 500},
                              ImVec2{1'600, 900}, ImVec2{3'840, 2'000}}) {
      CAPTURE(ranks);
      CAPTURE(size.x);
      RanksFixture f(ranks, size);
      f.move_mouse({size.x / 2, size.y * 0.8f});
      f.settle(f.panel);
      CHECK(f.is_drawable());
    }
  }
}

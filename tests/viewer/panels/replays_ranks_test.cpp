#include "panels/replays/replays_ranks.hpp"

#include <doctest/doctest.h>

#include "panels/replays/replays_panel.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/rank_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::graph_of_rank;

namespace {

// Replay n of rank r takes 80 us + r us, and 5 us more if it is replay 2 of rank 1. Rank 3 lacks
// replay 1.
std::shared_ptr<const model::Document> document_of(std::uint32_t ranks) {
  trace::Records records = test::make_rank_records({.ranks = ranks});
  std::erase_if(records.replays, [](const trace::Replay& r) {
    return r.graph == graph_of_rank(3).graph && r.replay == 1;
  });
  for (trace::Replay& r : records.replays) {
    const std::uint32_t rank = r.graph - graph_of_rank(0).graph;
    r.ended += rank * 1'000 + (rank == 1 && r.replay == 2 ? 5'000 : 0);
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("replays by rank: a line per rank has the times of the same replays") {
  const RankSeries all = make_rank_series(*document_of(4), graph_of_rank(2));
  REQUIRE(all.lines.size() == 4);
  CHECK(all.others == 0);
  CHECK(all.lines[1].name == "rank 1");
  CHECK(all.lines[1].times[0] == 81'000);
  CHECK(all.lines[1].times[1] == 86'000);
  CHECK(all.lines[2].is_shown);
  CHECK(all.lines[3].times[0] < 0);
  CHECK(all.lines[3].times[1] == 83'000);
  CHECK(all.max[0].session == 2);
  CHECK(all.max[1].session == 1);
  CHECK(all.max[1].time == 86'000);
  CHECK(all.min[1].session == 0);
}

TEST_CASE("replays by rank: ranks beyond sixteen are in the band between min and max") {
  const RankSeries all = make_rank_series(*document_of(40), graph_of_rank(5));
  CHECK(all.lines.size() == kMaxRankLines);
  CHECK(all.others == 24);
  trace::Time low = 1'000'000, high = 0;
  for (std::uint32_t rank = 0; rank < 40; ++rank) {
    const bool is_line = std::any_of(all.lines.begin(), all.lines.end(),
                                     [&](const auto& line) { return line.session == rank; });
    if (is_line) continue;
    low = std::min<trace::Time>(low, 80'000 + rank * 1'000);
    high = std::max<trace::Time>(high, 80'000 + rank * 1'000);
  }
  CHECK(all.low[2] == low);
  CHECK(all.high[2] == high);
}

TEST_CASE("replays by rank: a graph that no other rank runs has no lines") {
  const auto alone = test::make_rank_document({.has_collectives = false});
  CHECK(make_rank_series(*alone, graph_of_rank(1)).lines.empty());
}

TEST_CASE("replays panel: the tooltip names the ranks with the shortest and the longest time") {
  test::PanelFixture fixture({1400, 700}, document_of(4));
  fixture.show(graph_of_rank(2));
  ReplaysPanel panel(fixture.background);
  fixture.settle(panel);
  std::string tooltip;
  for (float x = 80; x < 1300 && tooltip.find("replay 2") == std::string::npos; x += 10) {
    fixture.move_mouse({x, 80});
    tooltip = fixture.text([&] { fixture.draw(panel); });
  }
  INFO(tooltip);
  test::check_in_order(tooltip,
                       {"replay 2", "shortest", "80.00 us, rank 0", "longest", "86.00 us, rank 1"});
  CHECK(fixture.is_drawable());
}

TEST_CASE("replays panel: a click selects a replay of the shown rank, and every size is drawable") {
  for (const ImVec2 size : {ImVec2{1400, 700}, ImVec2{300, 160}, ImVec2{120, 60}}) {
    test::PanelFixture fixture(size, document_of(40));
    fixture.show(graph_of_rank(5));
    ReplaysPanel panel(fixture.background);
    fixture.settle(panel);
    CHECK(fixture.is_drawable());
    if (size.x < 1000) continue;
    fixture.click({500, 200}, [&] { fixture.draw(panel); });
    const auto* const selected = std::get_if<model::SelectedReplay>(&fixture.view.selection);
    REQUIRE(selected != nullptr);
    CHECK(selected->graph == graph_of_rank(5));
  }
}

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <imgui_internal.h>

#include "panels/sync/sync_panel.hpp"
#include "viewer/panels/graph_documents.hpp"
#include "viewer/panels/memory_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::PanelFixture;

namespace {

const ImVec2 kSize{1300, 520};

model::Selection edge(std::uint32_t e) { return model::SelectedEdge{test::kMemoryKey, e}; }
model::Selection barrier(std::uint32_t b) { return model::SelectedBarrier{test::kMemoryKey, b}; }

struct SyncFixture : PanelFixture {
  explicit SyncFixture(std::shared_ptr<const model::Document> of = test::memory_document())
      : PanelFixture(kSize, std::move(of)), panel(background) {
    settle(panel);
  }
  std::string text_of_panel() {
    settle(panel);
    return text([&] { draw(panel); });
  }
  // Where the mouse is on a row that hovers `what`; {0, 0}: nowhere.
  ImVec2 row_of(const model::Selection& what) {
    for (float y = 40; y < kSize.y; y += 4) {
      view.hovered = {};
      move_mouse({40, y});
      window([&] { draw(panel); });
      if (view.hovered == what) return {40, y};
    }
    return {0, 0};
  }
  void click_at(ImVec2 at) {
    click(at, [&] { draw(panel); });
    settle(panel);
  }
  // Of the names above the table, from the left.
  void choose_tab(int tab) { click_at({tab == 0 ? 20.0f : tab == 1 ? 110.0f : 200.0f, 20}); }

  SyncPanel panel;
};

std::size_t place(const std::string& text, const std::string& word, std::size_t from = 0) {
  const std::size_t at = text.find(word, from);
  INFO(text);
  REQUIRE_MESSAGE(at != std::string::npos, word);
  return at;
}

void click_header(SyncFixture& f, int column) {
  ImPool<ImGuiTable>& tables = ImGui::GetCurrentContext()->Tables;
  REQUIRE(tables.GetMapSize() > 0);
  const ImGuiTable* table = tables.TryGetMapData(0);
  REQUIRE(table != nullptr);
  f.click_at({(table->Columns[column].MinX + table->Columns[column].MaxX) / 2,
              table->OuterRect.Min.y + 6});
}

}  // namespace

TEST_CASE("sync panel: a click on an edge selects it") {
  SyncFixture f;
  for (const std::uint32_t e : {test::kEdge34, test::kEdge02Implied}) {
    const ImVec2 at = f.row_of(edge(e));
    REQUIRE(at.y > 0);
    f.click_at(at);
    CHECK(f.view.selection == edge(e));
  }
}

TEST_CASE("sync panel: edges stand by cost, greatest first, and a click on a header sorts by it") {
  SyncFixture f;
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return f.row_of(edge(a)).y < f.row_of(edge(b)).y;
  };
  CHECK(is_before(test::kEdge23Lane, test::kEdge34));
  CHECK(is_before(test::kEdge34, test::kEdge45Frame));
  CHECK(is_before(test::kEdge45Frame, test::kEdge02Implied));
  click_header(f, 0);  // from, ascending
  CHECK(is_before(test::kEdge01, test::kEdge12Barrier));
  CHECK(is_before(test::kEdge34, test::kEdge45Frame));
  click_header(f, 0);  // descending
  CHECK(is_before(test::kEdge45Frame, test::kEdge01));
}

TEST_CASE(
    "sync panel: the summary names what is dearest, what orders nothing, and the hazards that were "
    "found") {
  SyncFixture f;
  const std::string text = f.text_of_panel();
  CHECK(place(text, "90.00 us", place(text, "longest way")) != 0);
  CHECK(place(text, "2 blur to 3 sum, 30.00 us", place(text, "dearest edge")) != 0);
  CHECK(place(text, "lanes 30.00 us, frame 10.00 us", place(text, "false dependencies")) != 0);
  CHECK(text.substr(place(text, "barriers that order nothing"), 32).find("2") != std::string::npos);
  CHECK(text.substr(place(text, "hazards found"), 20).find("1") != std::string::npos);
}

TEST_CASE("sync panel: implied edges and barriers that order nothing are marked") {
  SyncFixture f;
  const std::string edges = f.text_of_panel();
  CHECK(place(edges, "implied") != 0);
  f.choose_tab(1);
  const std::string barriers = f.text_of_panel();
  std::size_t at = 0;
  for (const char* words : {"step.cpp:12", "writes before reads", "step.cpp:20", "orders nothing",
                            "step.cpp:30", "orders nothing"}) {
    at = place(barriers, words, at) + 1;
  }
  CHECK(barriers.substr(place(barriers, "step.cpp:12"), 100).find("orders nothing") ==
        std::string::npos);
}

TEST_CASE("sync panel: a click on a barrier selects it, and its edges can be shown alone") {
  SyncFixture f;
  f.choose_tab(1);
  const ImVec2 at = f.row_of(barrier(0));
  REQUIRE(at.y > 0);
  f.click_at(at);
  CHECK(f.view.selection == barrier(0));
  CHECK(place(f.text_of_panel(), "show its 1 edge") != 0);
  // The button stands in the strip below the table, wherever that is.
  bool is_shown = false;
  for (float y = kSize.y * 0.7f; y < kSize.y && !is_shown; y += 8) {
    f.click_at({60, y});
    is_shown = f.row_of(edge(test::kEdge12Barrier)).y > 0;
  }
  REQUIRE(is_shown);
  CHECK(f.row_of(edge(test::kEdge34)).y == 0);
}

TEST_CASE("sync panel: a barrier that is selected elsewhere brings up its table") {
  SyncFixture f;
  f.view.select(barrier(2));
  const std::string text = f.text_of_panel();
  CHECK(place(text, "step.cpp:30") != 0);
  CHECK(place(text, "It can be removed") != 0);
}

TEST_CASE("sync panel: what is selected is told in words, with the nodes on both sides") {
  SyncFixture f;
  f.view.select(edge(test::kEdge23Lane));
  std::string text = f.text_of_panel();
  CHECK(place(text, "A false dependency") != 0);
  CHECK(place(text, "would be 30.00 us shorter, 33.3 % of it") != 0);
  f.view.select(model::SelectedNode{test::kMemoryKey, 2});
  text = f.text_of_panel();
  CHECK(place(text, "What 2  blur waits for") != 0);
  CHECK(place(text, "2 edges lead to it") != 0);
}

TEST_CASE("sync panel: findings stand in a list of their own, with a way to what they name") {
  SyncFixture f;
  f.choose_tab(2);
  const std::string text = f.text_of_panel();
  CHECK(place(text, "barrier-orders-nothing") != 0);
  CHECK(place(text, "two of them are not ordered") != 0);
  CHECK(text.find("nothing to do with order") == std::string::npos);
  bool is_selected = false;
  for (float x = 100; x < 700 && !is_selected; x += 20) {
    f.click_at({x, 75});
    is_selected = f.view.selection == barrier(1);
  }
  CHECK(is_selected);
}

TEST_CASE("sync panel: a filter leaves the edges at what passes") {
  SyncFixture f;
  f.view.filter.text = "store";
  f.update();
  f.settle(f.panel);
  CHECK(f.row_of(edge(test::kEdge34)).y > 0);
  CHECK(f.row_of(edge(test::kEdge01)).y == 0);
}

TEST_CASE(
    "sync panel: a trace that the engine wrote has its barriers, and which of them orders "
    "nothing") {
  SyncFixture f(test::recorded_document());
  f.choose_tab(1);
  const std::string text = f.text_of_panel();
  CHECK(place(text, "recorded_trace.cpp") != 0);
  CHECK(place(text, "orders nothing") != 0);
  CHECK(place(text, "all memory") != 0);
}

TEST_CASE("sync panel: ten thousand rows draw only those in sight, and any size is drawn") {
  SyncFixture f(test::graph_document({.nodes = 8'000, .width = 20}));
  f.settle(f.panel);
  CHECK(f.entry().graph->record().edges.size() > 8'000);
  CHECK(f.vertices() < 60'000);
  for (const ImVec2 size : {ImVec2{1180, 440}, ImVec2{500, 200}, ImVec2{120, 60}, ImVec2{20, 10}}) {
    CAPTURE(size.x);
    f.resize(size);
    f.settle(f.panel);
    CHECK(f.is_drawable());
  }
}

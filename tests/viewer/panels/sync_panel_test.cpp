#include <doctest/doctest.h>

#include <algorithm>
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

const ImVec2 kSyncPanel{1300, 520};

model::Selection edge(std::uint32_t e) { return model::SelectedEdge{test::kMemoryKey, e}; }
model::Selection barrier(std::uint32_t b) { return model::SelectedBarrier{test::kMemoryKey, b}; }

struct SyncFixture : PanelFixture {
  explicit SyncFixture(std::shared_ptr<const model::Document> of = test::memory_document())
      : PanelFixture(kSyncPanel, std::move(of)), panel(background) {
    settle(panel);
  }
  std::string panel_text() {
    settle(panel);
    return text([&] { draw(panel); });
  }
  // A point on the row that hovers `selection`; {0, 0} if no row does.
  ImVec2 row_of(const model::Selection& selection) {
    for (float y = 40; y < kSyncPanel.y; y += 4) {
      view.hovered = {};
      move_mouse({40, y});
      window([&] { draw(panel); });
      if (view.hovered == selection) return {40, y};
    }
    return {0, 0};
  }
  void click_at(ImVec2 at) {
    click(at, [&] { draw(panel); });
    settle(panel);
  }
  // Clicks a tab above the table, counted from the left.
  void choose_tab(int tab) { click_at({tab == 0 ? 20.0f : tab == 1 ? 110.0f : 200.0f, 20}); }

  SyncPanel panel;
};

std::size_t find_text(const std::string& text, const std::string& word, std::size_t from = 0) {
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
  for (const std::uint32_t e : {test::kEdge34, test::kEdge02Redundant}) {
    const ImVec2 at = f.row_of(edge(e));
    REQUIRE(at.y > 0);
    f.click_at(at);
    CHECK(f.view.selection == edge(e));
  }
}

TEST_CASE(
    "sync panel: edges are sorted by descending cost and a click on a header changes the order") {
  SyncFixture f;
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return f.row_of(edge(a)).y < f.row_of(edge(b)).y;
  };
  CHECK(is_before(test::kEdge23Lane, test::kEdge34));
  CHECK(is_before(test::kEdge34, test::kEdge45EntryExit));
  CHECK(is_before(test::kEdge45EntryExit, test::kEdge02Redundant));
  click_header(f, 0);  // from, ascending
  CHECK(is_before(test::kEdge01, test::kEdge12Barrier));
  CHECK(is_before(test::kEdge34, test::kEdge45EntryExit));
  click_header(f, 0);  // descending
  CHECK(is_before(test::kEdge45EntryExit, test::kEdge01));
}

TEST_CASE("sync panel: the summary shows the costliest edge, redundant barriers and races") {
  SyncFixture f;
  const std::string text = f.panel_text();
  CHECK(find_text(text, "90.00 us", find_text(text, "critical path")) != 0);
  CHECK(find_text(text, "1 scale -> 2 blur, 10.00 us", find_text(text, "costliest edge")) != 0);
  CHECK(find_text(text, "lanes 30.00 us, entry/exit 10.00 us",
                  find_text(text, "false dependencies")) != 0);
  CHECK(text.substr(find_text(text, "redundant barriers"), 23).find("2") != std::string::npos);
  CHECK(text.substr(find_text(text, "unordered accesses"), 23).find("1") != std::string::npos);
}

TEST_CASE("sync panel: nodes that fill the device are reported as an order without gain") {
  trace::GraphVersion record = test::memory_record();
  record.device = 7;  // not described: any overlap is possible
  {
    SyncFixture f(test::memory_document(record));
    CHECK(find_text(f.panel_text(), "costliest edge") != 0);
  }
  auto document = std::make_shared<model::Document>(*test::memory_document(record));
  auto devices = std::make_shared<std::map<std::uint32_t, trace::Device>>(*document->devices);
  (*devices)[7] = {7, "one worker", "host", {}, 0, 1};
  document->devices = devices;
  SyncFixture f(document);
  const std::string text = f.panel_text();
  CHECK(find_text(text, "order") < find_text(text, "cannot be improved"));
  CHECK(text.find("costliest edge") == std::string::npos);
}

TEST_CASE("sync panel: edges have a median gap over the replays that they released") {
  SyncFixture f;
  click_header(f, 8);
  const std::string text = f.panel_text();
  CHECK(find_text(text, "1.000 us | 1.000 us", find_text(text, "data flow")) != 0);
}

TEST_CASE("sync panel: redundant edges and barriers are marked") {
  SyncFixture f;
  const std::string edges = f.panel_text();
  CHECK(find_text(edges, "| redundant") != 0);
  f.choose_tab(1);
  const std::string barriers = f.panel_text();
  std::size_t at = 0;
  for (const char* words : {"step.cpp:12", "writes before reads", "step.cpp:20", "| redundant",
                            "step.cpp:30", "| redundant"}) {
    at = find_text(barriers, words, at) + 1;
  }
  const std::size_t first =
      find_text(barriers, "step.cpp:12", find_text(barriers, "redundant barriers"));
  CHECK(
      barriers.substr(first, find_text(barriers, "step.cpp:20", first) - first).find("redundant") ==
      std::string::npos);
}

TEST_CASE("sync panel: edges and barriers are exported with costs and gaps in ns") {
  SyncFixture f;
  const std::string edges = f.csv(f.panel);
  INFO(edges);
  CHECK(edges.rfind("from,to,cause,cost (ns),gap (ns),median gap (ns),hazard,buffer,bytes (bytes),"
                    "status\r\n",
                    0) == 0);
  CHECK(edges.find("\r\n2  blur,3  sum,lane,10000,") != std::string::npos);
  CHECK(static_cast<std::size_t>(std::count(edges.begin(), edges.end(), '\n')) ==
        1 + f.entry().graph->record().edges.size());
  f.choose_tab(1);
  const std::string barriers = f.csv(f.panel);
  INFO(barriers);
  CHECK(barriers.rfind("barrier,label,range,accesses,edges,critical,cost (ns),status\r\n", 0) == 0);
  test::check_in_order(barriers, {"step.cpp:12", "redundant"});
}

TEST_CASE("sync panel: a click on a barrier selects it and a button filters its edges") {
  SyncFixture f;
  f.choose_tab(1);
  const ImVec2 at = f.row_of(barrier(0));
  REQUIRE(at.y > 0);
  f.click_at(at);
  CHECK(f.view.selection == barrier(0));
  CHECK(find_text(f.panel_text(), "Show 1 edge") != 0);
  // The button is somewhere in the details below the table.
  bool is_shown = false;
  for (float y = kSyncPanel.y * 0.7f; y < kSyncPanel.y && !is_shown; y += 8) {
    f.click_at({60, y});
    is_shown = f.row_of(edge(test::kEdge12Barrier)).y > 0;
  }
  REQUIRE(is_shown);
  CHECK(f.row_of(edge(test::kEdge34)).y == 0);
}

TEST_CASE("sync panel: a barrier selected in another panel opens the barrier table") {
  SyncFixture f;
  f.view.select(barrier(2));
  const std::string text = f.panel_text();
  CHECK(find_text(text, "step.cpp:30") != 0);
  CHECK(find_text(text, "It can be removed") != 0);
}

TEST_CASE("sync panel: the details describe the selected edge or node") {
  SyncFixture f;
  f.view.select(edge(test::kEdge23Lane));
  std::string text = f.panel_text();
  CHECK(find_text(text, "False dependency:") != 0);
  CHECK(find_text(text, "saves about 10.00 us (11.1 % of the critical path)") != 0);
  f.view.select(edge(test::kEdge01));
  CHECK(find_text(f.panel_text(), "This order cannot be improved: scale reads what load writes") !=
        0);
  f.view.select(model::SelectedNode{test::kMemoryKey, 2});
  text = f.panel_text();
  CHECK(find_text(text, "Predecessors of 2  blur") != 0);
  CHECK(find_text(text, "2 incoming edges") != 0);
}

TEST_CASE("sync panel: the menu of an edge selects its ends, and copies what it is") {
  SyncFixture f;
  const auto contents = [&] { f.draw(f.panel); };
  const auto choose = [&](const char* item) {
    f.view.selection = {};
    f.settle(f.panel);
    f.click(f.row_of(edge(test::kEdge34)), contents, 1);
    f.choose(item, contents);
  };
  choose("Select store");
  CHECK(f.view.selection == model::Selection{model::SelectedNode{test::kMemoryKey, 4}});
  choose("Show in Graph");
  CHECK(f.view.selection == edge(test::kEdge34));
  CHECK(f.view.upper == View::Graph);
  choose("Copy description");
  CHECK(std::string(ImGui::GetClipboardText()).find(" -> store: ") != std::string::npos);
  choose("Copy row as CSV");
  CHECK(std::string(ImGui::GetClipboardText()).find("  store,hazard,") != std::string::npos);
}

TEST_CASE("sync panel: controls that do not fit are in a menu") {
  SyncFixture f;
  const auto contents = [&] { f.draw(f.panel); };
  const auto opens_menu = [&] {
    for (float x = 280; x < ImGui::GetIO().DisplaySize.x - 4; x += 8) {
      f.click({x, 20}, contents);
      if (ImGui::GetCurrentContext()->OpenPopupStack.Size != 0) return true;
    }
    return false;
  };
  CHECK_FALSE(opens_menu());
  f.resize({440, kSyncPanel.y});
  f.settle(f.panel);
  CHECK(opens_menu());
  CHECK(f.is_drawable());
}

TEST_CASE("sync panel: findings are listed with buttons that select their objects") {
  SyncFixture f;
  f.choose_tab(2);
  const std::string text = f.panel_text();
  CHECK(find_text(text, "barrier-orders-nothing") != 0);
  CHECK(find_text(text, "two of them are not ordered") != 0);
  CHECK(text.find("nothing to do with order") == std::string::npos);
  bool is_selected = false;
  for (float x = 100; x < 700 && !is_selected; x += 20) {
    f.click_at({x, 75});
    is_selected = f.view.selection == barrier(1);
  }
  CHECK(is_selected);
}

TEST_CASE("sync panel: a filter keeps only edges with a matching node") {
  SyncFixture f;
  f.view.filter.text = "store";
  f.update();
  f.settle(f.panel);
  CHECK(f.row_of(edge(test::kEdge34)).y > 0);
  CHECK(f.row_of(edge(test::kEdge01)).y == 0);
}

TEST_CASE("sync panel: a trace written by the engine shows its barriers and which are redundant") {
  SyncFixture f(test::recorded_document());
  f.choose_tab(1);
  const std::string text = f.panel_text();
  CHECK(find_text(text, "recorded_trace.cpp") != 0);
  CHECK(find_text(text, "| redundant") != 0);
  CHECK(find_text(text, "all memory") != 0);
}

TEST_CASE("sync panel: only visible rows of a large table are drawn, and every size is drawable") {
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

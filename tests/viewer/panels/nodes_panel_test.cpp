#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <imgui_internal.h>

#include "panels/nodes/nodes_distribution.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::PanelFixture;

namespace {

std::string text_of(PanelFixture& fixture, NodesPanel& panel) {
  return fixture.text([&] { fixture.draw(panel); });
}

// Where text stands, in what a panel shows; a test fails where it does not.
std::size_t place(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  INFO(text);
  REQUIRE_MESSAGE(at != std::string::npos, word);
  return at;
}

// Where the mouse is on the row of a node; {0, 0}: nowhere.
ImVec2 row_of(PanelFixture& fixture, NodesPanel& panel, std::uint32_t node) {
  for (float y = 0; y < 400; y += 4) {
    fixture.view.hovered = {};
    fixture.move_mouse({60, y});
    fixture.window([&] { fixture.draw(panel); });
    if (fixture.view.hovered == model::Selection{model::SelectedNode{fixture.view.graph, node}})
      return {60, y};
  }
  return {0, 0};
}

void click_header(PanelFixture& fixture, NodesPanel& panel, NodeColumn column) {
  ImPool<ImGuiTable>& tables = ImGui::GetCurrentContext()->Tables;
  REQUIRE(tables.GetMapSize() > 0);
  const ImGuiTable* table = tables.TryGetMapData(0);
  REQUIRE(table != nullptr);
  const ImGuiTableColumn& at = table->Columns[static_cast<int>(column)];
  fixture.click({(at.MinX + at.MaxX) / 2, table->OuterRect.Min.y + 6},
                [&] { fixture.draw(panel); });
  fixture.settle(panel);
}

std::vector<std::uint32_t> all_but(std::uint32_t count, std::uint32_t left_out) {
  std::vector<std::uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0u);
  nodes.erase(nodes.begin() + left_out);
  return nodes;
}

}  // namespace

TEST_CASE("nodes: sorted by the median, the slowest comes first, or last") {
  const PanelFixture fixture;
  const model::Graph& graph = *fixture.entry().graph;
  const auto down =
      sorted_nodes(graph, &fixture.view_model, {NodeColumn::Median, SortDirection::Descending});
  const auto up =
      sorted_nodes(graph, &fixture.view_model, {NodeColumn::Median, SortDirection::Ascending});
  REQUIRE(down.size() == graph.node_count());
  for (std::size_t i = 1; i < down.size(); ++i) {
    CHECK(fixture.view_model.nodes[down[i - 1]].median >= fixture.view_model.nodes[down[i]].median);
    CHECK(fixture.view_model.nodes[up[i - 1]].median <= fixture.view_model.nodes[up[i]].median);
  }
}

TEST_CASE("nodes: what is unknown comes last in both directions") {
  PanelFixture fixture;
  fixture.view_model.nodes[2].count = 0;
  for (const SortDirection direction : {SortDirection::Ascending, SortDirection::Descending}) {
    for (const NodeColumn column : {NodeColumn::Median, NodeColumn::P99, NodeColumn::Share}) {
      CHECK(sorted_nodes(*fixture.entry().graph, &fixture.view_model, {column, direction}).back() ==
            2);
    }
    // Of the kernels, that of a copy: it has none.
    const auto kernels =
        sorted_nodes(*fixture.entry().graph, &fixture.view_model, {NodeColumn::Kernel, direction});
    CHECK(kernels[3] == 0);
    CHECK(kernels[4] == 4);
  }
}

TEST_CASE("nodes: without any times the order is that of the numbers") {
  const PanelFixture fixture;
  const auto nodes = sorted_nodes(*fixture.entry().graph, nullptr,
                                  {NodeColumn::Median, SortDirection::Descending});
  CHECK(std::is_sorted(nodes.begin(), nodes.end()));
}

TEST_CASE(
    "nodes: the table shows every node, the one with the greatest share first, and a header sorts "
    "anew") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const std::string by_share = text_of(fixture, panel);
  CHECK(place(by_share, "store") < place(by_share, "sum"));
  CHECK(place(by_share, "sum") < place(by_share, "blur"));
  CHECK(place(by_share, "blur") < place(by_share, "load"));
  place(by_share, "5 nodes");
  click_header(fixture, panel, NodeColumn::Id);
  const std::string by_id = text_of(fixture, panel);
  CHECK(place(by_id, "load") < place(by_id, "saxpy"));
  CHECK(place(by_id, "saxpy") < place(by_id, "blur"));
  CHECK(place(by_id, "blur") < place(by_id, "sum"));
  click_header(fixture, panel, NodeColumn::Median);
  const std::string by_median = text_of(fixture, panel);
  CHECK(place(by_median, "store") < place(by_median, "sum"));
  CHECK(place(by_median, "sum") < place(by_median, "load"));
  CHECK(fixture.is_drawable());
}

TEST_CASE("nodes: the filter hides rows, and says how many are left") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.view.filter.text = "blur";
  fixture.update();
  fixture.settle(panel);
  const std::string text = text_of(fixture, panel);
  place(text, "blur");
  place(text, "1 of 5 nodes pass the filter");
  CHECK(text.find("store") == std::string::npos);
  fixture.view.filter.text = "nowhere";
  fixture.update();
  fixture.settle(panel);
  place(text_of(fixture, panel), "No node passes the filter");
}

TEST_CASE(
    "nodes: a click selects, a second one shows the node in the graph, and the mouse lights up") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const ImVec2 row = row_of(fixture, panel, 3);
  REQUIRE(row.y > 0);
  fixture.view.upper = UpperTab::Timeline;
  fixture.click(row, [&] { fixture.draw(panel); });
  CHECK(fixture.view.selection == model::Selection{model::SelectedNode{fixture.view.graph, 3}});
  CHECK(fixture.view.upper == UpperTab::Timeline);
  fixture.double_click(row, [&] { fixture.draw(panel); });
  CHECK(fixture.view.upper == UpperTab::Graph);
}

TEST_CASE("nodes: what is selected elsewhere comes into sight") {
  PanelFixture fixture({1600, 110});  // room for two rows
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const auto order = sorted_nodes(*fixture.entry().graph, &fixture.view_model,
                                  {NodeColumn::Share, SortDirection::Descending});
  const std::uint32_t last = order.back();
  REQUIRE(row_of(fixture, panel, last).y == 0);
  fixture.view.select(model::SelectedNode{fixture.view.graph, last});
  fixture.settle(panel);
  CHECK(row_of(fixture, panel, last).y > 0);
}

TEST_CASE("nodes: rows are copied as a table that programs read") {
  PanelFixture fixture;
  const model::Graph& graph = *fixture.entry().graph;
  const std::vector<std::uint32_t> nodes = all_but(graph.node_count(), 1);
  const std::string text = nodes_as_tsv(graph, &fixture.view_model, nodes);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(text.rfind("Node\tId\tShare\tMedian (ns)", 0) == 0);
  CHECK(text.find("\nblur\t2\t") != std::string::npos);
  CHECK(text.find("\t1,") == std::string::npos);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\t')) ==
        lines * (kNodeColumns - 2));
}

TEST_CASE("nodes: Ctrl+C copies the selected row, with Shift all of them") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  fixture.click(row_of(fixture, panel, 3), [&] { fixture.draw(panel); });
  ImGuiIO& io = ImGui::GetIO();
  const auto press_c = [&] {
    io.KeysDown[io.KeyMap[ImGuiKey_C]] = true;
    fixture.window([&] { fixture.draw(panel); });
    io.KeysDown[io.KeyMap[ImGuiKey_C]] = false;
    fixture.window([&] { fixture.draw(panel); });
  };
  io.KeyCtrl = true;
  press_c();
  CHECK(std::string(ImGui::GetClipboardText()) ==
        nodes_as_tsv(*fixture.entry().graph, &fixture.view_model, std::vector<std::uint32_t>{3}));
  io.KeyShift = true;
  press_c();
  const std::string all = ImGui::GetClipboardText();
  CHECK(std::count(all.begin(), all.end(), '\n') == 6);
}

TEST_CASE("nodes: every sample is in a bar of its distribution, and the tail is in the last one") {
  detail::CompactDurationHistogram times;
  for (int i = 0; i < 1000; ++i) times.add(10'000 + i);
  times.add(5'000'000);
  const Distribution spread = distribution(times, 24);
  CHECK(spread.bars.size() == 24);
  CHECK(std::accumulate(spread.bars.begin(), spread.bars.end(), 0.0) == doctest::Approx(1001));
  CHECK(spread.has_tail());
  CHECK(spread.highest < 20'000);
  CHECK(spread.bars.back() >= 1);
  CHECK(spread.place(spread.lowest) == 0);
  CHECK(spread.place(1e12) == 1);
}

TEST_CASE("nodes: one value, and none, are distributions too") {
  detail::CompactDurationHistogram times;
  CHECK(distribution(times, 8).bars.empty());
  times.add(100);
  times.add(100);
  const Distribution spread = distribution(times, 8);
  CHECK(std::accumulate(spread.bars.begin(), spread.bars.end(), 0.0) == doctest::Approx(2));
  CHECK_FALSE(spread.has_tail());
}

TEST_CASE("nodes: a small window and an empty one draw") {
  for (const ImVec2 size : {ImVec2{300, 80}, ImVec2{40, 20}}) {
    PanelFixture fixture(size);
    NodesPanel panel(fixture.background);
    fixture.settle(panel);
    CHECK(fixture.is_drawable());
  }
}

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

// The offset of a word in the text of a panel; fails the test if the text does not contain it.
std::size_t offset_of(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  INFO(text);
  REQUIRE_MESSAGE(at != std::string::npos, word);
  return at;
}

// A position over the row of a node; {0, 0}: not visible.
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

std::vector<std::uint32_t> all_but(std::uint32_t count, std::uint32_t excluded) {
  std::vector<std::uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0u);
  nodes.erase(nodes.begin() + excluded);
  return nodes;
}

}  // namespace

TEST_CASE("nodes: sorted_nodes() sorts by the median in both directions") {
  const PanelFixture fixture;
  const model::Graph& graph = *fixture.entry().graph;
  const auto descending =
      sorted_nodes(graph, &fixture.view_model, {NodeColumn::Median, SortDirection::Descending});
  const auto ascending =
      sorted_nodes(graph, &fixture.view_model, {NodeColumn::Median, SortDirection::Ascending});
  REQUIRE(descending.size() == graph.node_count());
  const auto& nodes = fixture.view_model.nodes;
  for (std::size_t i = 1; i < descending.size(); ++i) {
    CHECK(nodes[descending[i - 1]].median >= nodes[descending[i]].median);
    CHECK(nodes[ascending[i - 1]].median <= nodes[ascending[i]].median);
  }
}

TEST_CASE("nodes: unknown values come last in both directions") {
  PanelFixture fixture;
  fixture.view_model.nodes[2].count = 0;
  for (const SortDirection direction : {SortDirection::Ascending, SortDirection::Descending}) {
    for (const NodeColumn column : {NodeColumn::Median, NodeColumn::P99, NodeColumn::Share}) {
      CHECK(sorted_nodes(*fixture.entry().graph, &fixture.view_model, {column, direction}).back() ==
            2);
    }
    // Copies have no kernel.
    const auto kernels =
        sorted_nodes(*fixture.entry().graph, &fixture.view_model, {NodeColumn::Kernel, direction});
    CHECK(kernels[3] == 0);
    CHECK(kernels[4] == 4);
  }
}

TEST_CASE("nodes: without samples nodes are sorted by index") {
  const PanelFixture fixture;
  const auto nodes = sorted_nodes(*fixture.entry().graph, nullptr,
                                  {NodeColumn::Median, SortDirection::Descending});
  CHECK(std::is_sorted(nodes.begin(), nodes.end()));
}

TEST_CASE(
    "nodes: the table initially sorts by share, and a click on a header sorts by that column") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const std::string by_share = text_of(fixture, panel);
  CHECK(offset_of(by_share, "store") < offset_of(by_share, "sum"));
  CHECK(offset_of(by_share, "sum") < offset_of(by_share, "blur"));
  CHECK(offset_of(by_share, "blur") < offset_of(by_share, "load"));
  offset_of(by_share, "5 nodes");
  click_header(fixture, panel, NodeColumn::Id);
  const std::string by_id = text_of(fixture, panel);
  CHECK(offset_of(by_id, "load") < offset_of(by_id, "saxpy"));
  CHECK(offset_of(by_id, "saxpy") < offset_of(by_id, "blur"));
  CHECK(offset_of(by_id, "blur") < offset_of(by_id, "sum"));
  click_header(fixture, panel, NodeColumn::Median);
  const std::string by_median = text_of(fixture, panel);
  CHECK(offset_of(by_median, "store") < offset_of(by_median, "sum"));
  CHECK(offset_of(by_median, "sum") < offset_of(by_median, "load"));
  CHECK(fixture.is_drawable());
}

TEST_CASE("nodes: the filter hides rows, and the footer shows the number of matches") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.view.filter.text = "blur";
  fixture.update();
  fixture.settle(panel);
  const std::string text = text_of(fixture, panel);
  offset_of(text, "blur");
  offset_of(text, "1 of 5 nodes match the filter");
  CHECK(text.find("store") == std::string::npos);
  fixture.view.filter.text = "nowhere";
  fixture.update();
  fixture.settle(panel);
  offset_of(text_of(fixture, panel), "No node matches the filter");
}

TEST_CASE("nodes: a click selects the node, and a double click shows the node in the graph") {
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

TEST_CASE("nodes: a selection in another panel scrolls to the row") {
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

TEST_CASE("nodes: nodes_as_tsv() writes a header and numbers without separators") {
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

TEST_CASE("nodes: Ctrl+C copies the selected row, and Ctrl+Shift+C copies all rows") {
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

TEST_CASE("nodes: a distribution counts every sample, and the last bar includes the tail") {
  detail::CompactDurationHistogram times;
  for (int i = 0; i < 1000; ++i) times.add(10'000 + i);
  times.add(5'000'000);
  const Distribution spread = distribution(times, 24);
  CHECK(spread.bars.size() == 24);
  CHECK(std::accumulate(spread.bars.begin(), spread.bars.end(), 0.0) == doctest::Approx(1001));
  CHECK(spread.has_tail());
  CHECK(spread.highest < 20'000);
  CHECK(spread.bars.back() >= 1);
  CHECK(spread.position(spread.lowest) == 0);
  CHECK(spread.position(1e12) == 1);
}

TEST_CASE("nodes: distribution() accepts no values and equal values") {
  detail::CompactDurationHistogram times;
  CHECK(distribution(times, 8).bars.empty());
  times.add(100);
  times.add(100);
  const Distribution spread = distribution(times, 8);
  CHECK(std::accumulate(spread.bars.begin(), spread.bars.end(), 0.0) == doctest::Approx(2));
  CHECK_FALSE(spread.has_tail());
}

TEST_CASE("nodes: the panel draws in small windows") {
  for (const ImVec2 size : {ImVec2{300, 80}, ImVec2{40, 20}}) {
    PanelFixture fixture(size);
    NodesPanel panel(fixture.background);
    fixture.settle(panel);
    CHECK(fixture.is_drawable());
  }
}

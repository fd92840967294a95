#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <imgui_internal.h>

#include "model/document_builder.hpp"
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

TEST_CASE("nodes panel: the footer says how many of the sampled replays were read") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  CHECK(text_of(fixture, panel).find("sampled replays") == std::string::npos);  // all of them
  fixture.view_model.sampled_replays = 7'567;
  fixture.view_model.read_replays = 512;
  static_cast<void>(
      offset_of(text_of(fixture, panel), " samples of 512 of 7,567 sampled replays      "));
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
  fixture.view.upper = View::Timeline;
  fixture.click(row, [&] { fixture.draw(panel); });
  CHECK(fixture.view.selection == model::Selection{model::SelectedNode{fixture.view.graph, 3}});
  CHECK(fixture.view.upper == View::Timeline);
  fixture.double_click(row, [&] { fixture.draw(panel); });
  CHECK(fixture.view.upper == View::Graph);
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

TEST_CASE("nodes: the table is exported with numbers in place of formatted texts") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const std::string text = fixture.csv(panel);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(text.rfind(
            "Node,Id,Share,Median (ns),Spread,p90 (ns),p99 (ns),Max (ns),Samples,Slack (ns),", 0) ==
        0);
  test::check_in_order(text, {"\r\nstore,4,0.", "\r\nblur,2,0."});
  CHECK(text.find(" us") == std::string::npos);
}

TEST_CASE(
    "nodes: the tooltip of a name shows the whole name of its kernel, and the search finds it") {
  trace::Records records;
  records.graph_versions = {test::hand_made_document()->graphs.begin()->second.graph->record()};
  trace::GraphVersion& graph = records.graph_versions[0];
  const std::string whole = "triton_poi_fused_add_gelu_0";
  graph.strings.push_back(whole);
  graph.kernels[0].full_name = static_cast<std::uint32_t>(graph.strings.size() - 1);
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  PanelFixture fixture({1600, 900}, builder.publish());
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  CHECK(text_of(fixture, panel).find(whole) == std::string::npos);
  fixture.move_mouse(row_of(fixture, panel, 1));
  for (int i = 0; i < 30; ++i) fixture.window([&] { fixture.draw(panel); });
  CHECK(text_of(fixture, panel).find(whole) != std::string::npos);
  CHECK(model::matching_nodes({.text = whole}, *fixture.entry().graph)[1] == 1);
}

TEST_CASE("nodes: the menu of a row shows, filters, copies and bookmarks its node") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const auto contents = [&] { fixture.draw(panel); };
  const model::Selection blur = model::SelectedNode{fixture.view.graph, 2};
  const auto choose = [&](const char* item) {
    fixture.view.selection = {};
    fixture.view.filter = {};
    fixture.update();
    fixture.settle(panel);
    fixture.click(row_of(fixture, panel, 2), contents, 1);
    fixture.choose(item, contents);
  };
  choose("Show in Timeline");
  CHECK(fixture.view.selection == blur);
  CHECK(fixture.view.upper == View::Timeline);
  choose("Filter by kind");
  CHECK(fixture.view.filter.text == "kind:\"elementwise\"");  // of its kernel
  choose("Copy name");
  CHECK(std::string(ImGui::GetClipboardText()) == "blur");
  choose("Copy row as CSV");
  CHECK(std::string(ImGui::GetClipboardText()).find("\r\nblur,2,") != std::string::npos);
  choose("Bookmark...");
  CHECK(fixture.view.selection == blur);
  CHECK(fixture.view.focus_note);
  fixture.is_live = true;  // a session has no notes
  fixture.click(row_of(fixture, panel, 2), contents, 1);
  CHECK(fixture.text(contents).find("Bookmark") == std::string::npos);
}

TEST_CASE("nodes: a distribution counts every sample, and the last bar includes the tail") {
  detail::DurationHistogram times;
  for (int i = 0; i < 1000; ++i) times.add(10'000 + i);
  times.add(5'000'000);
  const Distribution spread = distribution(times, 24);
  CHECK(spread.bars.size() <= 24);
  CHECK(spread.bars.size() >= 8);
  CHECK(std::accumulate(spread.bars.begin(), spread.bars.end(), 0.0) == doctest::Approx(1001));
  CHECK(spread.has_tail());
  CHECK(spread.highest < 20'000);
  CHECK(spread.bars.back() >= 1);
  CHECK(spread.position(spread.lowest) == 0);
  CHECK(spread.position(1e12) == 1);
}

TEST_CASE("nodes: a distribution has no bar where there is no sample") {
  detail::DurationHistogram times;
  for (int i = 0; i < 500; ++i) {
    times.add(300'000);
    times.add(320'000);
  }
  const Distribution spread = distribution(times, 24);
  CHECK(std::count_if(spread.bars.begin(), spread.bars.end(), [](double n) { return n > 0; }) == 2);
  CHECK(spread.bars.front() == 500);
  CHECK(spread.bars.back() == 500);
}

TEST_CASE("nodes: distribution() accepts no values and equal values") {
  detail::DurationHistogram times;
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

TEST_CASE("nodes: columns without a value in any node are hidden") {
  PanelFixture fixture;  // nodes with labels and kernels, and copies of unknown size
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const ImGuiTable& table = *ImGui::GetCurrentContext()->Tables.TryGetMapData(0);
  const auto is_shown = [&](NodeColumn column) {
    return table.Columns[static_cast<int>(column)].IsEnabled;
  };
  for (const NodeColumn column : {NodeColumn::Label, NodeColumn::Kernel, NodeColumn::Source})
    CHECK(is_shown(column));
  CHECK_FALSE(is_shown(NodeColumn::Bytes));
  CHECK_FALSE(is_shown(NodeColumn::Throughput));
}

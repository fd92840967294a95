#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <imgui_internal.h>

#include "model/document_builder.hpp"
#include "panels/graphs/graphs_panel.hpp"
#include "panels/graphs/graphs_rows.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/graph_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/rank_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::check_in_order;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

namespace {

// The hand-made document, whose two graphs are a family, and a graph that was never replayed.
std::shared_ptr<const model::Document> document_of_graphs() {
  auto document = std::make_shared<model::Document>(*test::hand_made_document());
  trace::GraphVersion record = test::graph_record({.nodes = 30});
  record.graph = 20;
  model::GraphEntry entry;
  entry.graph = std::make_shared<const model::Graph>(std::move(record));
  auto statistics = std::make_shared<model::GraphStatistics>();
  statistics->nodes.resize(entry.graph->node_count());
  entry.statistics = std::move(statistics);
  document->graphs[entry.graph->key()] = entry;
  return document;
}

struct GraphsFixture : PanelFixture {
  explicit GraphsFixture(std::shared_ptr<const model::Document> of = document_of_graphs())
      : PanelFixture({1700, 300}, std::move(of)), panel(background) {
    settle(panel);
  }
  std::string panel_text() {
    settle(panel);
    CHECK(is_drawable());
    return text([&] { draw(panel); });
  }
  ImVec2 middle_of_row(int row) {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    const float height = std::round(context.FontSize + 2 * context.Style.CellPadding.y);
    ImPool<ImGuiTable>& tables = ImGui::GetCurrentContext()->Tables;
    REQUIRE(tables.GetMapSize() > 0);
    const float top = tables.TryGetMapData(0)->OuterRect.Min.y;
    return {60, top + height * (static_cast<float>(row) + 1.5f)};
  }
  void click_row(int row) {
    click(middle_of_row(row), [&] { draw(panel); });
    settle(panel);
  }
  GraphsPanel panel;
};

}  // namespace

TEST_CASE("graphs rows: families come first and expand to their graphs, sorted by any column") {
  const model::GraphTable table = model::graph_table(*document_of_graphs());
  const auto rows = graph_rows(table, {}, {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].row == trace::kNone);
  CHECK(graph_text(table, rows[0], GraphColumn::Name) == "step and 1 more");
  CHECK(graph_text(table, rows[0], GraphColumn::Share) == "100.0 %");
  CHECK(graph_text(table, rows[1], GraphColumn::Name) == "large");
  CHECK(graph_text(table, rows[1], GraphColumn::Replays) == "never replayed");
  CHECK(graph_text(table, rows[1], GraphColumn::Median).empty());
  const std::set<std::uint64_t> expanded{table.families[rows[0].family].topology};
  const auto all = graph_rows(table, {}, expanded);
  REQUIRE(all.size() == 4);
  CHECK(all[1].is_member);
  CHECK(graph_text(table, all[1], GraphColumn::Name) == "step");
  CHECK(graph_text(table, all[2], GraphColumn::Name) == "other");
  const auto by_nodes = graph_rows(table, {GraphColumn::Nodes, true}, expanded);
  CHECK(graph_text(table, by_nodes[0], GraphColumn::Name) == "large");
  const auto by_name = graph_rows(table, {GraphColumn::Name, false}, expanded);
  CHECK(graph_text(table, by_name[0], GraphColumn::Name) == "large");
  CHECK(graph_text(table, by_name[2], GraphColumn::Name) == "other");
}

TEST_CASE("graphs panel: the table is exported as shown, with times in ns") {
  GraphsFixture f;
  f.click_row(0);
  const std::string text = f.csv(f.panel);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(text.rfind("Graph,Replays,Median (ns),p99 (ns),Total (ns),Share,", 0) == 0);
  check_in_order(
      text, {"step and 1 more,50,", ",1,", ",\r\nstep,40,", "\r\nother,10,", "\r\nlarge,0,,,,,"});
}

TEST_CASE("graphs panel: families, totals and graphs that were never replayed are shown") {
  GraphsFixture f;
  check_in_order(f.panel_text(), {"step and 1 more", "50", "100.0 %", "large", "never replayed",
                                  "3 graphs in 2 families", "50 replays", "1 never replayed"});
}

TEST_CASE("graphs panel: columns without any value are hidden, and absent values are a dash") {
  const auto bits = [](std::initializer_list<GraphColumn> columns) {
    std::uint64_t all = 0;
    for (const GraphColumn column : columns)
      all |= std::uint64_t{1} << static_cast<unsigned>(column);
    return all;
  };
  using Column = GraphColumn;
  CHECK(absent_columns(model::graph_table(*document_of_graphs())) ==
        bits({Column::Process, Column::Slab, Column::Memory, Column::LaunchMemory, Column::Record,
              Column::Compile, Column::Instantiate, Column::Upload}));
  const auto is_shown = [](GraphColumn column) {
    return ImGui::GetCurrentContext()
        ->Tables.TryGetMapData(0)
        ->Columns[static_cast<int>(column)]
        .IsEnabled;
  };
  {
    const GraphsFixture f;
    CHECK_FALSE(is_shown(Column::Memory));
    CHECK(is_shown(Column::Pool));
  }
  auto document = std::make_shared<model::Document>(*document_of_graphs());
  document->creation_costs = std::make_shared<const std::map<std::uint32_t, trace::CreationCost>>(
      std::map<std::uint32_t, trace::CreationCost>{
          {HandMadeTrace::kStep, {HandMadeTrace::kStep, 1, 4'000, 3'000, 3 << 20, 1 << 20}},
          {HandMadeTrace::kOther, {HandMadeTrace::kOther, 1, 2'000, 0, -(1 << 20)}}});
  const model::GraphTable table = model::graph_table(*document);
  CHECK(absent_columns(table) ==
        bits({Column::Process, Column::Slab, Column::Compile, Column::Instantiate}));
  GraphsFixture f(document);
  f.click_row(0);
  CHECK(is_shown(Column::Memory));
  CHECK_FALSE(is_shown(Column::Process));
  check_in_order(f.panel_text(),
                 {"step and 1 more", "3 MiB", "1 MiB", "6.000 us", "3.000 us", "step", "4 MiB",
                  "1 MiB", "4.000 us", "3.000 us", "other", "-1 MiB", "-", "2.000 us", "-", "large",
                  "never replayed", "-", "device memory 3 MiB"});
  const std::string csv = f.csv(f.panel);
  CHECK(csv.find("Memory (bytes),Launch mem. (bytes),Record (ns),Upload (ns)") !=
        std::string::npos);
  CHECK(csv.find(",4194304,1048576,4000,3000,") != std::string::npos);
  CHECK(csv.find(",-1048576,,2000,,") != std::string::npos);
  CHECK(graph_text(table, {0, 1, false}, GraphColumn::LaunchMemory).empty());
  const auto rows = graph_rows(table, {GraphColumn::Memory, false},
                               {table.families[table.rows[0].family].topology});
  CHECK(graph_text(table, rows[1], GraphColumn::Name) == "other");  // less than nothing
}

TEST_CASE("graphs rows: the process of a graph is a column if there are several") {
  model::GraphTable table = model::graph_table(*document_of_graphs());
  CHECK(table.processes == std::vector<std::string>{"digits 4711"});
  table.processes.push_back("digits 4712, rank 1");
  table.rows[1].process = 1;
  CHECK((absent_columns(table) >> static_cast<unsigned>(GraphColumn::Process) & 1u) == 0);
  const auto rows = graph_rows(table, {GraphColumn::Process, true},
                               {table.families[table.rows[0].family].topology});
  REQUIRE(rows.size() == 4);
  CHECK(graph_text(table, rows[1], GraphColumn::Process).empty());  // a family
  CHECK(graph_text(table, rows[2], GraphColumn::Process) == "digits 4712, rank 1");
  CHECK(graph_text(table, rows[3], GraphColumn::Process) == "digits 4711");
}

TEST_CASE("graphs panel: the graphs of all ranks are a family, each with the name of its rank") {
  GraphsFixture f(test::make_rank_document());
  f.click_row(0);
  check_in_order(f.panel_text(), {"4 graphs", "rank 0", "rank 1", "rank 2", "rank 3"});
}

TEST_CASE("graphs panel: a click expands a family, and a click on a graph shows it") {
  GraphsFixture f;
  f.click_row(0);
  check_in_order(f.panel_text(), {"step and 1 more", "step", "other", "large"});
  f.click_row(2);
  CHECK(f.view.graph == model::GraphKey{HandMadeTrace::kOther, 1});
  f.click_row(0);
  CHECK(f.panel_text().find("other  ") == std::string::npos);
}

TEST_CASE("graphs panel: the menu of a graph shows and compares it") {
  GraphsFixture f;
  f.settle(f.panel);
  f.click_row(0);
  const auto contents = [&] { f.draw(f.panel); };
  const auto choose = [&](const char* item) {
    f.click(f.middle_of_row(2), contents, 1);
    f.choose(item, contents);
  };
  choose("Compare: set A");
  CHECK(f.view.compare_a == model::GraphKey{HandMadeTrace::kOther, 1});
  CHECK(f.view.lower == View::Compare);
  choose("Copy name");
  CHECK(std::string(ImGui::GetClipboardText()) == "other");
  choose("Show in Replays");
  CHECK(f.view.graph == model::GraphKey{HandMadeTrace::kOther, 1});
  CHECK(f.view.upper == View::Replays);
}

TEST_CASE("graphs panel: only visible rows of ten thousand graphs are drawn") {
  trace::Records records;
  for (std::uint32_t id = 0; id < 10'000; ++id) {
    trace::GraphVersion g = test::graph_record({.nodes = 3 + id % 2});
    g.graph = id;
    records.graph_versions.push_back(std::move(g));
  }
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(std::move(records));
  GraphsFixture f(builder.publish());
  f.click_row(0);
  check_in_order(f.panel_text(), {"10,000 graphs in", "10,000 never replayed"});
  CHECK(f.vertices() < 30'000);
  for (const ImVec2 size : {ImVec2{500, 200}, ImVec2{120, 60}, ImVec2{20, 10}}) {
    f.resize(size);
    f.settle(f.panel);
    CHECK(f.is_drawable());
  }
}

TEST_CASE("graphs panel: without a graph the panel shows a placeholder") {
  GraphsFixture f(model::DocumentBuilder(std::make_shared<model::SampleStore>()).publish());
  CHECK(f.panel_text().find("No graph yet") != std::string::npos);
}

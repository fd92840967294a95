#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "model/document_builder.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/inspector/inspector_trend.hpp"
#include "panels/inspector/inspector_versions.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/rank_documents.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::hand_made_time;
using reprise::test::PanelFixture;

namespace {

// The text of the inspector page; the window is tall enough to show the whole page.
std::string page_of(PanelFixture& fixture, const model::Selection& selection) {
  fixture.resize({420, 3000});
  fixture.view.selection = selection;
  InspectorPanel panel(fixture.background);
  fixture.settle(panel);
  CHECK(fixture.is_drawable());
  return fixture.text([&] { fixture.draw(panel); });
}

void check_contains(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    INFO(text);
    CHECK_MESSAGE(text.find(word) != std::string::npos, word);
  }
}

trace::GraphVersion changed_version(const model::Graph& graph) {
  trace::GraphVersion next = graph.record();
  ++next.version;
  next.nodes[1].grid[0] = 8;
  next.strings.push_back("sharpen");
  next.nodes[2].name = static_cast<std::uint32_t>(next.strings.size() - 1);
  return next;
}

// The fixture's document with one more version of the shown graph.
std::shared_ptr<const model::Document> with_another_version(const PanelFixture& fixture) {
  auto document = std::make_shared<model::Document>(*fixture.document);
  auto next = std::make_shared<const model::Graph>(changed_version(*fixture.entry().graph));
  auto statistics = std::make_shared<model::GraphStatistics>();
  statistics->nodes.resize(next->node_count());
  model::GraphEntry entry;
  entry.graph = next;
  entry.statistics = std::move(statistics);
  document->graphs[next->key()] = std::move(entry);
  return document;
}

}  // namespace

TEST_CASE(
    "inspector: without a selection the page shows the graph, its hottest nodes and the session") {
  PanelFixture fixture;
  check_contains(page_of(fixture, {}),
                 {"step", "Hottest nodes", "store", "32.8 %", "nodes", "hazard edges", "lane edges",
                  "0xfeedfacecafebeef", "node7", "4711", "digits --epochs 3", "host (2 threads)",
                  "2023-11-14"});
}

TEST_CASE("inspector: of several ranks, the page shows that of the graph and its clock") {
  PanelFixture fixture({1600, 900}, test::make_rank_document({.clock_error = 12'300}));
  fixture.show(test::graph_of_rank(2));
  const std::string text = page_of(fixture, {});
  check_contains(text, {"node2", "4002", "2 of 4", "job-7", "Clock aligned to", "rank 0",
                        "9 exchanges of clocks", "2.000 us", "+12.000 ppm", "up to 12.30 us"});
  CHECK(text.find("node1") == std::string::npos);
  fixture.show(test::graph_of_rank(0));
  CHECK(page_of(fixture, {}).find("reference of all ranks") != std::string::npos);
}

TEST_CASE("inspector: the page of a captured graph shows what creating it cost") {
  PanelFixture fixture;
  auto document = std::make_shared<model::Document>(*fixture.document);
  const std::uint32_t graph = fixture.entry().graph->key().graph;
  document->creation_costs = std::make_shared<const std::map<std::uint32_t, trace::CreationCost>>(
      std::map<std::uint32_t, trace::CreationCost>{{graph, {graph, 1, 4'000, 0, 3 << 20}}});
  fixture.document = document;
  const std::string text = page_of(fixture, {});
  check_contains(text, {"4.000 us", "Capture memory", "3 MiB"});
  CHECK(text.find("First launch") == std::string::npos);
}

TEST_CASE("inspector: a node page shows location, kernel, statistics, buffers and neighbours") {
  PanelFixture fixture;
  const std::string text = page_of(fixture, model::SelectedNode{fixture.view.graph, 2});
  check_contains(text, {"elementwise node 2 of step",
                        "blur",
                        "epoch / forward",
                        "median",
                        "p99",
                        "main.cpp:12",
                        "saxpy \"a, b\"",
                        "Registers",
                        "32",
                        "256",
                        "x<&>",
                        "reads the whole buffer",
                        "Predecessors",
                        "load",
                        "read after write",
                        "Successors",
                        "sum",
                        "write after read",
                        "Shown replay",
                        "Trend"});
  CHECK(text.find(duration_text(fixture.view_model.nodes[2].median)) != std::string::npos);
}

TEST_CASE("inspector: pages of a segment's nodes and edges show which blocks they wait for") {
  PanelFixture fixture;
  auto document = std::make_shared<model::Document>(*fixture.document);
  trace::GraphVersion record = fixture.entry().graph->record();
  record.segments = {{0, 5, 2, 12}};
  record.block_relations = {{0, 3, 0, 0, 0, 0}, {2, 3, 1, 1, -1, 1}};  // to load and to blur
  document->graphs[fixture.view.graph].graph = std::make_shared<const model::Graph>(record);
  fixture.document = document;
  const std::string sum = page_of(fixture, model::SelectedNode{fixture.view.graph, 3});
  check_contains(sum, {"Predecessors", "load", "block b needs all blocks", "blur",
                       "block b needs blocks b - 1 to b + 1\nhazard: write after read on x"});
  CHECK(page_of(fixture, model::SelectedNode{fixture.view.graph, 2}).find("block b") ==
        std::string::npos);
  check_contains(page_of(fixture, model::SelectedEdge{fixture.view.graph, 3}),
                 {"Blocks", "block b needs blocks b - 1 to b + 1"});
  CHECK(page_of(fixture, model::SelectedEdge{fixture.view.graph, 2}).find("block b") ==
        std::string::npos);
}

TEST_CASE("inspector: pages of nodes and graphs show their call stacks") {
  PanelFixture fixture;
  auto document = std::make_shared<model::Document>(*fixture.document);
  trace::GraphVersion record = fixture.entry().graph->record();
  const auto text_of = [&](const char* text) {
    record.strings.push_back(text);
    return static_cast<std::uint32_t>(record.strings.size() - 1);
  };
  const std::uint32_t file = text_of("/home/a/train.py");
  record.frames = {{trace::kNone, text_of("whole_epoch"), file, 40, 0},
                   {0, text_of("at::add"), text_of("/lib/libtorch.so"), 0, 0x1234}};
  record.stacks = {{2, 1}};
  record.stack = 0;
  document->graphs[fixture.view.graph].graph = std::make_shared<const model::Graph>(record);
  fixture.document = document;
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 2}),
                 {"Call stack", "at::add", "libtorch.so+0x", "1234", "whole_epoch", "train.py:40"});
  CHECK(page_of(fixture, model::SelectedNode{fixture.view.graph, 1}).find("Call stack") ==
        std::string::npos);
  const std::string graph = page_of(fixture, {});
  check_contains(graph, {"Call stack", "whole_epoch", "train.py:40"});
}

TEST_CASE("inspector: a node page reports timing lost in the shown replay") {
  PanelFixture fixture;
  fixture.view.replay = 3;
  fixture.update();
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 4}),
                 {"Run 1: timing lost", "1 sample\n"});
}

TEST_CASE("inspector: a node page without samples names REPRISE_PROFILE") {
  PanelFixture fixture;
  fixture.view_model = {};
  fixture.view_model.key = fixture.view.graph;
  fixture.view_model.nodes.resize(5);
  fixture.view_model.medians.resize(5);
  fixture.replay.reset();
  check_contains(
      page_of(fixture, model::SelectedNode{fixture.view.graph, 0}),
      {"Not measured", "REPRISE_PROFILE", "The node can start as soon as the replay starts"});
}

TEST_CASE("inspector: a buffer page shows slab range, accesses in order and aliases") {
  PanelFixture fixture;
  check_contains(page_of(fixture, model::SelectedBuffer{fixture.view.graph, 0}),
                 {"transient buffer of step", "x<&>", "4 KiB", "[256, 4,352)", "5 of 5 nodes",
                  "writes the whole buffer", "load", "store", "No other transient buffer"});
  PanelFixture recorded({420, 3000}, test::recorded_document());
  const model::Graph& graph = *recorded.entry().graph;
  const auto& buffers = graph.record().buffers;
  const auto result = std::find_if(buffers.begin(), buffers.end(), [](const trace::Buffer& b) {
    return b.kind != trace::BufferKind::Transient;
  });
  REQUIRE(result != buffers.end());
  check_contains(
      page_of(recorded, model::SelectedBuffer{recorded.view.graph, static_cast<std::uint32_t>(
                                                                       result - buffers.begin())}),
      {"frame pool", "Allocated", "Size"});
}

TEST_CASE(
    "inspector: a replay page shows times relative to the median, execution, slowest nodes and "
    "critical path") {
  PanelFixture fixture;
  fixture.view.replay = 7;
  fixture.update();
  check_contains(page_of(fixture, model::SelectedReplay{fixture.view.graph, 7}),
                 {"Replay 7", "Device time", "Median", "Launch call", "907 ns",
                  "Launch-to-start latency", "2.500 us", "main", "trainer", "vs. median",
                  "Remainder", "Difference", "Measured critical path", "work", "wait", "total"});
  check_contains(page_of(fixture, model::SelectedReplay{fixture.view.graph, 1000}),
                 {"does not contain this replay"});
}

TEST_CASE("inspector: the page of a sampled replay that is not shown has a button to show it") {
  PanelFixture fixture;
  fixture.view.replay = 7;
  fixture.update();
  check_contains(page_of(fixture, model::SelectedReplay{fixture.view.graph, 9}),
                 {"Replay 9", "Show nodes"});
}

TEST_CASE("inspector: a barrier page shows location, scope, edges and cost") {
  PanelFixture fixture({420, 3000}, test::recorded_document());
  const trace::GraphVersion& version = fixture.entry().graph->record();
  REQUIRE_FALSE(version.barriers.empty());
  std::uint32_t useful = 0;
  while (useful < version.barriers.size() && version.barriers[useful].edges == 0) ++useful;
  REQUIRE(useful < version.barriers.size());
  check_contains(page_of(fixture, model::SelectedBarrier{fixture.view.graph, useful}),
                 {"barrier", "recorded_trace.cpp", "Access before", "Access after", "Cost",
                  "critical", "Barrier edges"});
}

TEST_CASE("inspector: an edge page shows both nodes, the reason and the cost") {
  PanelFixture fixture;
  check_contains(page_of(fixture, model::SelectedEdge{fixture.view.graph, 3}),
                 {"edge of step", "write after read", "From (runs first)", "blur", "To (waits)",
                  "sum", "[0, 64)", "x<&>", "Cost", "on a critical path"});
  check_contains(page_of(fixture, model::SelectedEdge{fixture.view.graph, 4}),
                 {"lane", "Not required for correctness"});
}

TEST_CASE("inspector: a selection in another graph or in no graph of the trace is reported") {
  PanelFixture fixture;
  check_contains(page_of(fixture, model::SelectedNode{{8, 1}, 0}),
                 {"In another graph", "other", "Show graph"});
  check_contains(page_of(fixture, model::SelectedNode{{99, 1}, 0}), {"does not contain"});
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 5'000}),
                 {"In another graph"});
}

TEST_CASE("inspector: without a graph the panel shows a placeholder") {
  PanelFixture fixture({420, 600},
                       model::DocumentBuilder(std::make_shared<model::SampleStore>()).publish());
  InspectorPanel panel(fixture.background);
  check_contains(fixture.text([&] { fixture.draw(panel); }), {"Nothing to inspect yet"});
}

TEST_CASE("inspector: the page of a later version lists the changes since the previous version") {
  PanelFixture fixture;
  fixture.document = with_another_version(fixture);
  fixture.show({fixture.view.graph.graph, 2});
  check_contains(page_of(fixture, {}), {"Versions", "Changes since previous version", "saxpy",
                                        "grid 8", "was 1", "sharpen", "added", "blur", "removed"});
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 1}), {"grid 8", "was 1"});
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 2}),
                 {"Added in this version"});
  check_contains(page_of(fixture, model::SelectedNode{fixture.view.graph, 3}),
                 {"Unchanged since the previous version"});
}

TEST_CASE("inspector: a click on a neighbour selects that node") {
  PanelFixture fixture({420, 3000});
  fixture.view.selection = model::SelectedNode{fixture.view.graph, 0};
  InspectorPanel panel(fixture.background);
  fixture.settle(panel);
  const model::Selection blur = model::SelectedNode{fixture.view.graph, 2};
  float found = 0;
  for (float y = 20; y < 2000 && found == 0; y += 5) {
    fixture.view.hovered = {};
    fixture.move_mouse({120, y});
    fixture.window([&] { fixture.draw(panel); });
    if (fixture.view.hovered == blur) found = y;
  }
  REQUIRE(found > 0);
  fixture.click({120, found}, [&] { fixture.draw(panel); });
  CHECK(fixture.view.selection == blur);
}

TEST_CASE("inspector: a node trend has one point per measured replay of the range") {
  const PanelFixture fixture;
  const NodeTrend all = node_trend(*fixture.document, fixture.view.graph, 4, {});
  CHECK(all.points.size() == test::HandMadeTrace::kStepReplays - 1);  // one sample is lost
  for (const NodeTrend::Point& point : all.points)
    CHECK(point.nanoseconds == static_cast<double>(hand_made_time(4, point.replay)));
  const NodeTrend some = node_trend(*fixture.document, fixture.view.graph, 0, {10, 5});
  REQUIRE(some.points.size() == 5);
  CHECK(some.points.front().replay == 11);
}

TEST_CASE("inspector: version_changes() lists changed, added and removed nodes") {
  const PanelFixture fixture;
  const model::Graph& before = *fixture.entry().graph;
  const model::Graph after(changed_version(before));
  const VersionChanges changes = version_changes(before, after);
  REQUIRE(changes.changed.size() == 1);
  CHECK(changes.changed[0].node == 1);
  CHECK(changes.changed[0].changes == std::vector<std::string>{"grid 8, was 1"});
  CHECK(changes.added == std::vector<std::uint32_t>{2});
  CHECK(changes.removed == std::vector<std::uint32_t>{2});
  CHECK(version_changes(before, before).is_empty());
}

TEST_CASE("inspector: source lines of a node appear only after the user allows their folder") {
  PanelFixture fixture;
  const std::filesystem::path folder = reprise::test::scratch_folder() / "inspected";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "main.cpp") << "\n\n\n\n\n\n\n\n\n\nvoid saxpy();  // line 11\n";
  const model::Selection node = model::SelectedNode{fixture.view.graph, 1};  // main.cpp:11
  const std::string before = page_of(fixture, node);
  check_contains(before, {"The trace names main.cpp", "Allow"});
  CHECK(before.find("// line 11") == std::string::npos);
  fixture.view.source_folders = {folder.string()};
  const std::string after = page_of(fixture, node);
  check_contains(after, {"void saxpy();  // line 11", "Forbid"});
  CHECK(after.find("Allow") == std::string::npos);
}

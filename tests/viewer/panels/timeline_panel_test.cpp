#include <doctest/doctest.h>

#include <imgui_internal.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "panels/timeline/timeline_panel.hpp"
#include "panels/timeline/timeline_ruler.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/table_columns.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::PanelFixture;

namespace {

struct Timeline : PanelFixture {
  explicit Timeline(std::shared_ptr<const model::Document> of, ImVec2 size = {1400, 700})
      : PanelFixture(size, std::move(of)), panel(background) {
    settle(panel);
  }
  void draw_once() {
    window([&] { draw(panel); });
  }
  std::string panel_text() {
    return text([&] { draw(panel); });
  }
  // Moves the mouse and returns the hovered node, or kNone.
  std::uint32_t node_at(ImVec2 at) {
    move_mouse(at);
    view.hovered = {};
    draw_once();
    const auto* const node = std::get_if<model::SelectedNode>(&view.hovered);
    return node == nullptr ? trace::kNone : node->node;
  }
  // A point in the middle of a node's item.
  ImVec2 position_of(std::uint32_t node) {
    for (float y = 60; y < 690; y += 12) {
      float first = 0, last = 0;
      for (float x = 150; x < 1390; x += 8) {
        if (node_at({x, y}) != node || panel_text().find("duration") == std::string::npos) continue;
        if (first == 0) first = x;
        last = x;
      }
      if (first != 0) return {(first + last) / 2, y};
    }
    FAIL("node " << node << " is not in the timeline");
    return {};
  }
  void settle_twice() {
    for (int i = 0; i < 2; ++i) {
      update();
      settle(panel);
    }
  }

  TimelinePanel panel;
};

// One replay of a graph with a thousand short nodes in one lane and one long node in another.
std::shared_ptr<const model::Document> document_of_short_nodes() {
  constexpr std::uint32_t kShort = 1000;
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  trace::GraphVersion graph;
  graph.graph = 1;
  graph.version = 1;
  graph.lanes = 2;
  graph.strings = {"", "short", "long"};
  graph.labels = {{}};
  trace::SampleBlock block;
  block.graph = block.version = 1;
  block.replay = 1;
  const trace::Time start = 5'000'000;
  for (std::uint32_t n = 0; n <= kShort; ++n) {
    trace::Node node;
    node.kind = trace::NodeKind::Dispatch;
    node.name = n == kShort ? 2 : 1;
    node.lane = n == kShort ? 1 : 0;
    graph.nodes.push_back(node);
    const trace::Time started = n == kShort ? start : start + 10'000 + n * 20;
    block.samples.push_back({n, 0, started, n == kShort ? 100'000'000u : 15u, 0});
  }
  trace::Replay replay;
  replay.graph = replay.version = 1;
  replay.replay = 1;
  replay.launched = start - 1000;
  replay.launch_returned = start - 500;
  replay.started = start;
  replay.ended = start + 100'000'000;
  replay.sampled = 1;
  records.graph_versions.push_back(std::move(graph));
  records.replays.push_back(replay);
  records.sample_blocks.push_back(std::move(block));
  builder.add(std::move(records));
  return builder.publish();
}

// One replay of the graph "start", then replays of "many" on the same queue.
std::shared_ptr<const model::Document> document_after_start(std::uint64_t count) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.graph_versions = {test::make_chain_graph(), test::make_chain_graph()};
  records.graph_versions[1].graph = 1;
  records.graph_versions[1].label = "start";
  records.replays = {test::make_replay(0, 100'000)};
  records.replays[0].graph = 1;
  for (std::uint64_t number = 1; number <= count; ++number)
    records.replays.push_back(
        test::make_replay(number, 100'000 + static_cast<trace::Time>(number * 7919 % 1000)));
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("timeline panel: a click on a node selects it and its tooltip shows the duration") {
  Timeline timeline(test::hand_made_document());
  const std::uint32_t node = timeline.entry().graph->node_count() / 2;
  const ImVec2 at = timeline.position_of(node);
  CHECK(timeline.node_at(at) == node);
  const std::string tooltip = timeline.panel_text();
  CHECK(tooltip.find(timeline.entry().graph->node_name(node)) != std::string::npos);
  CHECK(tooltip.find("vs. median") != std::string::npos);
  timeline.click(at, [&] { timeline.draw(timeline.panel); });
  const auto* const selected = std::get_if<model::SelectedNode>(&timeline.view.selection);
  REQUIRE(selected != nullptr);
  CHECK(selected->node == node);
}

TEST_CASE("timeline panel: the wheel zooms at the cursor and Home fits the replay") {
  Timeline timeline(test::hand_made_document());
  const std::uint32_t node = timeline.entry().graph->node_count() / 2;
  const ImVec2 at = timeline.position_of(node);
  const auto width = [&] {
    float count = 0;
    for (float x = 150; x < 1390; x += 2) count += timeline.node_at({x, at.y}) == node ? 1 : 0;
    return count;
  };
  const float before = width();
  for (int i = 0; i < 4; ++i) {
    timeline.move_mouse(at);
    timeline.wheel(1);
    timeline.draw_once();
  }
  CHECK(timeline.node_at(at) == node);
  CHECK(width() > before);
  timeline.move_mouse(at);
  timeline.press(268, [&] { timeline.draw(timeline.panel); });
  timeline.settle(timeline.panel);
  CHECK(width() == doctest::Approx(before).epsilon(0.2));
}

TEST_CASE("timeline panel: the tooltip of narrow nodes has their number and busy time") {
  Timeline timeline(document_of_short_nodes());
  // The block is at the left, just after the start.
  std::string tooltip;
  for (float y = 100; y < 690 && tooltip.find("1,000 nodes") == std::string::npos; y += 6) {
    for (float x = 150; x < 260 && tooltip.find("1,000 nodes") == std::string::npos; x += 1) {
      if (timeline.node_at({x, y}) != trace::kNone) tooltip = timeline.panel_text();
    }
  }
  // 15 ns of every 20 ns.
  test::check_in_order(tooltip, {"1,000 nodes", "busy", "15.00 us, 75.0 %", "here"});
  CHECK(timeline.vertices() < 20'000);
}

TEST_CASE(
    "timeline panel: a gap's tooltip names its kind, the predecessor and the cause of the edge") {
  Timeline timeline(test::hand_made_document());
  const std::string bar = timeline.panel_text();
  std::string gap;
  for (float y = 60; y < 690 && gap.empty(); y += 6) {
    for (float x = 150; x < 1390 && gap.empty(); x += 3) {
      if (timeline.node_at({x, y}) == trace::kNone) continue;
      if (std::string tooltip = timeline.panel_text();
          tooltip.find("waits for") != std::string::npos)
        gap = std::move(tooltip);
    }
  }
  CAPTURE(gap);
  CHECK(gap.find("blur (node 2)") != std::string::npos);
  CHECK(gap.find("write after read on x<&>") != std::string::npos);
  CHECK(gap.find("waiting on dependency") != std::string::npos);
}

TEST_CASE("timeline panel: the buttons select sampled replays") {
  Timeline timeline(test::hand_made_document());
  REQUIRE(timeline.replay);
  const std::uint64_t newest = timeline.replay->replay.replay;
  // The first button selects the previous replay.
  const auto contents = [&] { timeline.draw(timeline.panel); };
  timeline.click({16, 18}, contents);
  timeline.settle_twice();
  CHECK(timeline.view.replay == newest - 1);
  CHECK(timeline.replay->replay.replay == newest - 1);
  timeline.click({16, 18}, contents);
  timeline.settle_twice();
  CHECK(timeline.view.replay == newest - 2);
}

TEST_CASE("timeline panel: a click on an adjacent replay shows it") {
  Timeline timeline(test::hand_made_document());
  for (int i = 0; i < 8; ++i) {  // zoom out until adjacent replays are visible
    timeline.move_mouse({700, 400});
    timeline.wheel(-1);
    timeline.draw_once();
  }
  timeline.settle(timeline.panel);
  const std::uint64_t shown = timeline.replay->replay.replay;
  ImVec2 other{0, 0};
  for (float y = 60; y < 400 && other.x == 0; y += 6) {
    for (float x = 150; x < 1390 && other.x == 0; x += 4) {
      timeline.node_at({x, y});
      const auto* const replay = std::get_if<model::SelectedReplay>(&timeline.view.hovered);
      if (replay != nullptr && replay->replay != shown &&
          timeline.panel_text().find("Click to show this replay") != std::string::npos)
        other = {x, y};
    }
  }
  REQUIRE(other.x != 0);
  timeline.click(other, [&] { timeline.draw(timeline.panel); });
  CHECK(timeline.view.replay.has_value());
  CHECK(*timeline.view.replay != shown);
}

TEST_CASE("timeline panel: an empty timeline shows the reason, and every size is drawable") {
  Timeline none(test::make_replays_document(20));
  CHECK(none.panel_text().find("No node timings") != std::string::npos);
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{400, 300}, ImVec2{120, 60}}) {
    for (const auto& document :
         {test::recorded_document(), test::hand_made_document(), test::make_replays_document(3)}) {
      Timeline timeline(document, size);
      CHECK(timeline.is_drawable());
    }
  }
}

TEST_CASE("timeline ruler: a left drag gives its span once, and a click gives none") {
  test::ImGuiFixture context({1000, 300});
  Canvas canvas(CanvasAxes::Horizontal);
  TimelineRuler ruler;
  std::vector<std::pair<double, double>> spans;
  const auto contents = [&] {
    canvas.begin("plane", {0, 0, 1'000'000, 1}, context.theme);
    if (const auto span = ruler.update(canvas)) spans.push_back(*span);
    ruler.draw_lines({.theme = context.theme, .canvas = canvas});
    ruler.draw({.theme = context.theme, .canvas = canvas});
    canvas.end();
  };
  context.window(contents);
  context.click({300, 150}, contents);
  CHECK(spans.empty());
  context.drag({500, 150}, {300, 150}, contents);
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].first == doctest::Approx(canvas.x_of(300)));
  CHECK(spans[0].second == doctest::Approx(canvas.x_of(500)));
  CHECK_FALSE(ruler.is_dragging());
}

TEST_CASE("timeline panel: a drag selects a span, and its table sums what ran in it") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  const std::uint32_t node = timeline.entry().graph->node_count() / 2;
  const ImVec2 at = timeline.position_of(node);
  timeline.drag({160, at.y}, {1380, at.y}, contents);
  timeline.settle(timeline.panel);
  static_cast<void>(timeline.position_of(node));  // still in view
  const auto* const span = std::get_if<model::SelectedSpan>(&timeline.view.selection);
  REQUIRE(span != nullptr);
  const trace::Replay& replay = timeline.replay->replay;
  CHECK((span->started <= replay.started && span->ended >= replay.ended));
  timeline.move_mouse({160, 20});
  timeline.draw_once();
  test::check_in_order(timeline.panel_text(),
                       {"selected: busy", "1 replay, 1 with node times; 5 nodes"});
  const std::string csv = timeline.csv(timeline.panel);
  INFO(csv);
  CHECK(csv.rfind("name,time (ns),share,count,mean (ns)\r\n", 0) == 0);
  CHECK(csv.find("\r\ncopy,6010,") != std::string::npos);
  timeline.resize({560, 480});  // the table is below the rows
  timeline.settle(timeline.panel);
  test::check_in_order(timeline.panel_text(), {"selected: busy", "5 nodes", "| copy |"});
  timeline.resize({560, 400});  // eight rows and the lines above them fit
  timeline.settle(timeline.panel);
  float tables = 0;
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows) {
    const bool is_part = w->Active && std::strstr(w->Name, "/tables_") != nullptr;
    tables = std::max(tables, is_part ? w->Size.y : 0);
  }
  CHECK(tables >= 12 * row_height());
  timeline.view.selection = {};
  timeline.settle(timeline.panel);
  CHECK(timeline.panel_text().find("selected: busy") == std::string::npos);
}

TEST_CASE("timeline panel: a click on the title of a section hides its rows") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  const auto find = [&](const char* words) {
    for (float y = 50; y < 690; y += 3) {
      timeline.move_mouse({60, y});
      if (timeline.panel_text().find(words) != std::string::npos) return y;
    }
    return 0.0f;
  };
  const float title = find("Click to hide the rows of this section");
  REQUIRE(title > 0);
  REQUIRE(find("trainer") > 0);
  timeline.click({60, title}, contents);
  CHECK(find("trainer") == 0);
  CHECK(find("Click to show the rows of this section") == title);
}

TEST_CASE(
    "timeline panel: a drag of the lower edge of a name resizes rows, a double click resets") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  // The top and bottom of the row of the queue.
  const auto row = [&] {
    float top = 0, bottom = 0;
    for (float y = 50; y < 690; ++y) {
      timeline.move_mouse({60, y});
      if (timeline.panel_text().find("\nmain\n") == std::string::npos) continue;
      if (top == 0) top = y;
      bottom = y;
    }
    return std::pair(top, bottom);
  };
  const auto [top, bottom] = row();
  REQUIRE(bottom > top);
  const auto height = [&] {
    const auto [from, to] = row();
    return to - from;
  };
  timeline.drag({60, bottom + 3}, {60, bottom + 33}, contents);
  CHECK(height() == doctest::Approx(bottom - top + 30).epsilon(0.1));
  timeline.double_click({60, bottom + 33}, contents);
  CHECK(height() == bottom - top);
}

TEST_CASE("timeline panel: zoomed out, the rectangles of many replays fit the pixels of the rows") {
  constexpr int kReplays = 22'000, kWidth = 1400, kRows = 3, kOther = 600;
  Timeline timeline(document_after_start(kReplays), {kWidth, 700});
  timeline.move_mouse({700, 300});
  timeline.draw_once();
  timeline.press(test::kHome, [&] { timeline.draw(timeline.panel); });
  timeline.settle(timeline.panel);
  CHECK(timeline.vertices() / 4 < kWidth * kRows + kOther);
  // Each replay takes a tenth of its period, so no column is full: the rows of the queue and the
  // graph have their lowest pixels only. Most columns are equal.
  CHECK(timeline.vertices() / 4 < kWidth);
  std::string tooltip;
  for (float y = 60; y < 690 && tooltip.find("22,001 replays") == std::string::npos; y += 4) {
    timeline.move_mouse({700, y});
    tooltip = timeline.panel_text();
  }
  test::check_in_order(tooltip,
                       {"22,001 replays", "busy", "10.1 %", "here", "many 22,000", "start 1"});
  CHECK(std::holds_alternative<std::monostate>(timeline.view.hovered));
}

TEST_CASE("timeline panel: Home alternates between the replay and the whole recording") {
  Timeline timeline(test::hand_made_document());
  const auto draw = [&] { timeline.draw(timeline.panel); };
  const auto replay_at = [&](float x, float y) {
    timeline.node_at({x, y});
    return std::get_if<model::SelectedReplay>(&timeline.view.hovered);
  };
  timeline.settle(timeline.panel);
  float row = 60;  // of the replays; one fills the width
  while (row < 300 && replay_at(700, row) == nullptr) row += 6;
  REQUIRE(row < 300);
  const auto replays_in_view = [&] {
    timeline.settle(timeline.panel);
    std::set<std::uint64_t> numbers;
    for (float x = 140; x < 1390; x += 3) {
      if (const auto* const replay = replay_at(x, row)) numbers.insert(replay->replay);
    }
    return numbers.size();
  };
  const std::size_t one = replays_in_view();
  timeline.move_mouse({700, 400});
  timeline.draw_once();
  timeline.press(test::kHome, draw);
  CHECK(replays_in_view() >= timeline.entry().replays.size());
  timeline.move_mouse({700, 400});
  timeline.draw_once();
  timeline.press(test::kHome, draw);
  CHECK(replays_in_view() == one);
}

TEST_CASE(
    "timeline panel: the nodes of other graphs are drawn, and a click on one shows its graph") {
  Timeline timeline(test::hand_made_document());
  timeline.view.replay = 2;  // only the first replays alternate with those of the other graph
  timeline.settle_twice();
  const model::GraphKey shown = timeline.view.graph;
  for (int i = 0; i < 8; ++i) {
    timeline.move_mouse({700, 400});
    timeline.wheel(-1);
    timeline.draw_once();
  }
  timeline.settle(timeline.panel);
  ImVec2 other{0, 0};
  for (float y = 60; y < 690 && other.x == 0; y += 10) {
    for (float x = 140; x < 1390 && other.x == 0; x += 8) {
      timeline.node_at({x, y});
      const auto* const node = std::get_if<model::SelectedNode>(&timeline.view.hovered);
      if (node != nullptr && !(node->graph == shown)) other = {x, y};
    }
  }
  REQUIRE(other.x != 0);
  timeline.click(other, [&] { timeline.draw(timeline.panel); });
  CHECK_FALSE(timeline.view.graph == shown);
  REQUIRE(timeline.view.replay.has_value());
  const auto* const selected = std::get_if<model::SelectedNode>(&timeline.view.selection);
  REQUIRE(selected != nullptr);
  CHECK(selected->graph == timeline.view.graph);
  // The view stays: the node is at the same time. Its row is higher, because its graph is shown.
  const std::uint32_t node = selected->node;
  timeline.settle_twice();
  bool found = false;
  for (float y = 60; y < 690 && !found; y += 5) found = timeline.node_at({other.x, y}) == node;
  CHECK(found);
}

TEST_CASE("timeline panel: a bookmarked span is shown when it is selected again") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  timeline.click({700, 600}, contents, 1);
  timeline.choose("Bookmark this view", contents);
  const model::Selection span = timeline.view.selection;
  REQUIRE(std::holds_alternative<model::SelectedSpan>(span));
  CHECK(timeline.view.focus_note);
  const auto& shown = std::get<model::SelectedSpan>(span);
  CHECK(shown.started < shown.ended);
  // Another place: the whole recording. The next bookmark of the view is longer.
  timeline.view.selection = {};
  timeline.view.reveal_selection = false;
  timeline.click({700, 600}, contents, 1);
  timeline.choose("Fit recording to view", contents);
  timeline.settle(timeline.panel);
  const auto bookmark = [&] {
    timeline.view.selection = {};
    timeline.click({700, 600}, contents, 1);
    timeline.choose("Bookmark this view", contents);
    timeline.view.reveal_selection = false;
    return std::get<model::SelectedSpan>(timeline.view.selection);
  };
  const model::SelectedSpan all = bookmark();
  CHECK(all.ended - all.started > 2 * (shown.ended - shown.started));
  timeline.view.go_to(span);
  timeline.draw_once();
  timeline.view.reveal_selection = false;
  timeline.draw_once();
  timeline.draw_once();
  const model::SelectedSpan again = bookmark();
  CHECK(again.started <= shown.started);
  CHECK(again.ended >= shown.ended);
  // The table of the selected span had taken a part of the width.
  CHECK(again.ended - again.started < 3 * (shown.ended - shown.started));
}

TEST_CASE("timeline panel: the menu of a node shows it elsewhere, and a session has no bookmarks") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  const ImVec2 at = timeline.position_of(2);
  timeline.click(at, contents, 1);
  timeline.choose("Show in Graph", contents);
  CHECK(timeline.view.selection == model::Selection{model::SelectedNode{timeline.view.graph, 2}});
  CHECK(timeline.view.upper == View::Graph);
  timeline.is_live = true;
  timeline.click(at, contents, 1);
  CHECK(timeline.panel_text().find("Bookmark") == std::string::npos);
}

TEST_CASE("timeline panel: the gap list shows idle time and gaps of nodes with their causes") {
  Timeline timeline(test::hand_made_document());
  const auto contents = [&] { timeline.draw(timeline.panel); };
  std::string text;
  for (float x = 300; x < 1390 && text.find("idle ") == std::string::npos; x += 12) {
    timeline.click({x, 18}, contents);
    timeline.settle(timeline.panel);
    text = timeline.panel_text();
    timeline.update();
  }
  INFO(text);
  CHECK(text.find("waiting on dependency: blur") != std::string::npos);
  const std::string csv = timeline.csv(timeline.panel);
  INFO(csv);
  CHECK(csv.rfind("length (ns),cause,before,where,start (ns)\r\n", 0) == 0);
  CHECK(csv.find(",waiting on dependency: blur,") != std::string::npos);
}

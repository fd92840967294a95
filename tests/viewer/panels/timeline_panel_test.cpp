#include <doctest/doctest.h>

#include <cmath>

#include "panels/timeline/timeline_panel.hpp"
#include "panels/timeline/timeline_ruler.hpp"
#include "panels/widgets/canvas.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::PanelFixture;

namespace {

constexpr int kEscape = 256;

struct Timeline : PanelFixture {
  explicit Timeline(std::shared_ptr<const model::Document> of, ImVec2 size = {1400, 700})
      : PanelFixture(size, std::move(of)), panel(background) {
    settle(panel);
  }
  void once() {
    window([&] { draw(panel); });
  }
  std::string said() {
    return text([&] { draw(panel); });
  }
  // The node that the mouse is on there; kNone: none.
  std::uint32_t node_at(ImVec2 at) {
    move_mouse(at);
    view.hovered = {};
    once();
    const auto* const node = std::get_if<model::SelectedNode>(&view.hovered);
    return node == nullptr ? trace::kNone : node->node;
  }
  // Somewhere in the middle of a node's item.
  ImVec2 place_of(std::uint32_t node) {
    for (float y = 60; y < 690; y += 8) {
      float first = 0, last = 0;
      for (float x = 150; x < 1390; x += 4) {
        if (node_at({x, y}) != node || said().find("took") == std::string::npos) continue;
        if (first == 0) first = x;
        last = x;
      }
      if (first != 0) return {(first + last) / 2, y};
    }
    FAIL("node " << node << " is nowhere in the timeline");
    return {};
  }
  void go() {
    for (int i = 0; i < 2; ++i) {
      update();
      settle(panel);
    }
  }

  TimelinePanel panel;
};

// A graph with a thousand short nodes in one lane, and a long one, all in one replay.
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
  const trace::Time begin = 5'000'000;
  for (std::uint32_t n = 0; n <= kShort; ++n) {
    trace::Node node;
    node.kind = trace::NodeKind::Dispatch;
    node.name = n == kShort ? 2 : 1;
    node.lane = n == kShort ? 1 : 0;
    graph.nodes.push_back(node);
    const trace::Time started = n == kShort ? begin : begin + 10'000 + n * 20;
    block.samples.push_back({n, 0, started, n == kShort ? 100'000'000u : 15u, 0});
  }
  trace::Replay replay;
  replay.graph = replay.version = 1;
  replay.replay = 1;
  replay.launched = begin - 1000;
  replay.launch_returned = begin - 500;
  replay.started = begin;
  replay.ended = begin + 100'000'000;
  replay.sampled = 1;
  records.graph_versions.push_back(std::move(graph));
  records.replays.push_back(replay);
  records.sample_blocks.push_back(std::move(block));
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("timeline panel: a click on a node selects it, and the mouse says what it took") {
  Timeline timeline(test::hand_made_document());
  const std::uint32_t node = timeline.entry().graph->node_count() / 2;
  const ImVec2 at = timeline.place_of(node);
  CHECK(timeline.node_at(at) == node);
  const std::string said = timeline.said();
  CHECK(said.find(timeline.entry().graph->node_name(node)) != std::string::npos);
  CHECK(said.find("of its median") != std::string::npos);
  timeline.click(at, [&] { timeline.draw(timeline.panel); });
  const auto* const selected = std::get_if<model::SelectedNode>(&timeline.view.selection);
  REQUIRE(selected != nullptr);
  CHECK(selected->node == node);
}

TEST_CASE(
    "timeline panel: the wheel keeps the time under the cursor, and Home brings everything back") {
  Timeline timeline(test::hand_made_document());
  const std::uint32_t node = timeline.entry().graph->node_count() / 2;
  const ImVec2 at = timeline.place_of(node);
  const auto width = [&] {
    float count = 0;
    for (float x = 150; x < 1390; x += 2) count += timeline.node_at({x, at.y}) == node ? 1 : 0;
    return count;
  };
  const float before = width();
  for (int i = 0; i < 4; ++i) {
    timeline.move_mouse(at);
    timeline.wheel(1);
    timeline.once();
  }
  CHECK(timeline.node_at(at) == node);
  CHECK(width() > before);
  timeline.move_mouse(at);
  timeline.press(268, [&] { timeline.draw(timeline.panel); });
  timeline.settle(timeline.panel);
  CHECK(width() == doctest::Approx(before).epsilon(0.2));
}

TEST_CASE("timeline panel: nodes too short to see are one block that says how many it holds") {
  Timeline timeline(document_of_short_nodes());
  // The block is at the left, below the begin.
  std::string said;
  for (float y = 100; y < 690 && said.find("1,000 nodes, too short to see") == std::string::npos;
       y += 6) {
    for (float x = 150; x < 260 && said.find("1,000 nodes, too short to see") == std::string::npos;
         x += 1) {
      if (timeline.node_at({x, y}) != trace::kNone) said = timeline.said();
    }
  }
  CHECK(said.find("1,000 nodes, too short to see") != std::string::npos);
  CHECK(timeline.vertices() < 20'000);
}

TEST_CASE(
    "timeline panel: the colours of gaps are explained, and a gap says which predecessor it waited "
    "for, and why") {
  Timeline timeline(test::hand_made_document());
  const std::string bar = timeline.said();
  std::string gap;
  for (float y = 60; y < 690 && gap.empty(); y += 6) {
    for (float x = 150; x < 1390 && gap.empty(); x += 3) {
      if (timeline.node_at({x, y}) == trace::kNone) continue;
      if (std::string said = timeline.said(); said.find("waited for") != std::string::npos)
        gap = std::move(said);
    }
  }
  CAPTURE(gap);
  CHECK(gap.find("blur (node 2)") != std::string::npos);
  CHECK(gap.find("write after read on x<&>") != std::string::npos);
  CHECK(gap.find("waits for a predecessor") != std::string::npos);
}

TEST_CASE("timeline panel: its buttons go to sampled replays") {
  Timeline timeline(test::hand_made_document());
  REQUIRE(timeline.replay);
  const std::uint64_t newest = timeline.replay->replay.replay;
  // The first button of the bar goes back, the second forth.
  const auto contents = [&] { timeline.draw(timeline.panel); };
  timeline.click({16, 18}, contents);
  timeline.go();
  CHECK(timeline.view.replay == newest - 1);
  CHECK(timeline.replay->replay.replay == newest - 1);
  timeline.click({16, 18}, contents);
  timeline.go();
  CHECK(timeline.view.replay == newest - 2);
}

TEST_CASE("timeline panel: a click on a replay beside the shown one shows that") {
  Timeline timeline(test::hand_made_document());
  for (int i = 0; i < 8; ++i) {  // out, until its neighbours are in sight
    timeline.move_mouse({700, 400});
    timeline.wheel(-1);
    timeline.once();
  }
  timeline.settle(timeline.panel);
  const std::uint64_t shown = timeline.replay->replay.replay;
  ImVec2 other{0, 0};
  for (float y = 60; y < 400 && other.x == 0; y += 6) {
    for (float x = 150; x < 1390 && other.x == 0; x += 4) {
      timeline.node_at({x, y});
      const auto* const replay = std::get_if<model::SelectedReplay>(&timeline.view.hovered);
      if (replay != nullptr && replay->replay != shown &&
          timeline.said().find("Click shows this replay") != std::string::npos)
        other = {x, y};
    }
  }
  REQUIRE(other.x != 0);
  timeline.click(other, [&] { timeline.draw(timeline.panel); });
  CHECK(timeline.view.replay.has_value());
  CHECK(*timeline.view.replay != shown);
}

TEST_CASE("timeline panel: says why it is empty, and draws at every size") {
  Timeline none(test::document_of_many(20));
  CHECK(none.said().find("No node was timed") != std::string::npos);
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{400, 300}, ImVec2{120, 60}}) {
    for (const auto& document :
         {test::recorded_document(), test::hand_made_document(), test::document_of_many(3)}) {
      Timeline timeline(document, size);
      CHECK(timeline.is_drawable());
    }
  }
}

TEST_CASE("timeline ruler: Shift and a drag measure a span; Escape lets go of it") {
  test::ImGuiFixture context({1000, 300});
  Canvas canvas(CanvasAxes::Horizontal);
  TimelineRuler ruler;
  const auto contents = [&] {
    canvas.begin("plane", {0, 0, 1'000'000, 1}, context.theme);
    ruler.update(canvas);
    ruler.draw_lines({.theme = context.theme, .canvas = canvas});
    ruler.draw({.theme = context.theme, .canvas = canvas});
    canvas.end();
  };
  context.window(contents);
  ImGui::GetIO().KeyShift = true;
  context.drag({300, 150}, {500, 150}, contents);
  ImGui::GetIO().KeyShift = false;
  REQUIRE(ruler.span());
  CHECK(ruler.span()->first == doctest::Approx(canvas.x_of(300)));
  CHECK(ruler.span()->second == doctest::Approx(canvas.x_of(500)));
  context.drag({300, 150}, {500, 150}, contents);  // without Shift it measures nothing
  CHECK(ruler.span()->second == doctest::Approx(canvas.x_of(500)));
  context.press(kEscape, contents);
  CHECK(!ruler.span());
}

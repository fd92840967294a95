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
    for (float y = 60; y < 690; y += 8) {
      float first = 0, last = 0;
      for (float x = 150; x < 1390; x += 4) {
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

TEST_CASE("timeline panel: narrow nodes are merged into one block with a count") {
  Timeline timeline(document_of_short_nodes());
  // The block is at the left, just after the start.
  std::string tooltip;
  for (float y = 100; y < 690 && tooltip.find("1,000 nodes (merged)") == std::string::npos;
       y += 6) {
    for (float x = 150; x < 260 && tooltip.find("1,000 nodes (merged)") == std::string::npos;
         x += 1) {
      if (timeline.node_at({x, y}) != trace::kNone) tooltip = timeline.panel_text();
    }
  }
  CHECK(tooltip.find("1,000 nodes (merged)") != std::string::npos);
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
  CHECK(gap.find("predecessor wait") != std::string::npos);
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
  context.drag({300, 150}, {500, 150}, contents);  // a drag without Shift changes nothing
  CHECK(ruler.span()->second == doctest::Approx(canvas.x_of(500)));
  context.press(kEscape, contents);
  CHECK(!ruler.span());
}

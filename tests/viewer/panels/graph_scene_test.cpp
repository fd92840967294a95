#include "panels/graph/graph_scene.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "panels/graph/graph_highlights.hpp"
#include "viewer/panels/graph_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"

namespace {

using namespace reprise;
using namespace reprise::viewer;

TextWidths plain_widths() {
  TextWidths widths;
  widths.advance.fill(7);
  widths.other = 8;
  widths.height = 14;
  return widths;
}

GraphSceneKey key_of(const test::GraphDocumentDesc& desc, Direction direction = Direction::Down) {
  return {std::make_shared<const model::Graph>(test::graph_record(desc)),
          direction,
          {},
          plain_widths(),
          plain_widths(),
          1};
}

bool overlap(const Rect& a, const Rect& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Number of boxes that overlap an area without belonging to its label or a nested label.
std::uint32_t foreign_boxes(const GraphScene& scene) {
  std::uint32_t count = 0;
  const auto is_inside = [&](const GraphBox& box, std::uint32_t label) {
    const model::Graph& graph = scene.graph();
    return box.node != trace::kNone ? graph.is_below(graph.record().nodes[box.node].label, label)
                                    : graph.is_below(box.label, label);
  };
  for (const GraphArea& area : scene.areas) {
    for (const Rect& part : area.parts) {
      for (const GraphBox& box : scene.boxes)
        count += overlap(part, box.rect) && !is_inside(box, area.group + 1) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

TEST_CASE(
    "graph scene: every node has a box, no boxes overlap, and every edge has a link between the "
    "boxes of its ends") {
  for (const Direction direction : {Direction::Down, Direction::Right}) {
    const GraphScene scene = make_graph_scene(key_of({.nodes = 200, .far_edges = 9}, direction));
    const auto& record = scene.graph().record();
    REQUIRE(scene.boxes.size() == 200);
    std::uint32_t overlaps = 0, wrong = 0;
    for (std::uint32_t a = 0; a < 200; ++a) {
      CHECK(scene.boxes[scene.box_of[a]].node == a);
      for (std::uint32_t b = a + 1; b < 200; ++b)
        overlaps += overlap(scene.boxes[a].rect, scene.boxes[b].rect) ? 1 : 0;
    }
    for (std::uint32_t e = 0; e < record.edges.size(); ++e) {
      REQUIRE(scene.link_of[e] != trace::kNone);
      const GraphLink& link = scene.links[scene.link_of[e]];
      wrong += link.from != scene.box_of[record.edges[e].from] ||
                       link.to != scene.box_of[record.edges[e].to]
                   ? 1
                   : 0;
      wrong += (link.causes & cause_bit(record.edges[e].cause)) == 0 ? 1 : 0;
    }
    CHECK(overlaps == 0);
    CHECK(wrong == 0);
  }
}

TEST_CASE("graph scene: the area of a label contains exactly the boxes of the label") {
  for (const Direction direction : {Direction::Down, Direction::Right}) {
    const GraphScene scene = make_graph_scene(key_of({.nodes = 300, .far_edges = 11}, direction));
    CHECK(scene.areas.size() > 6);
    CHECK(foreign_boxes(scene) == 0);
    for (const GraphArea& area : scene.areas) {
      std::uint32_t members = 0, held = 0;
      for (const GraphBox& box : scene.boxes) {
        if (!scene.graph().is_below(scene.graph().record().nodes[box.node].label, area.group + 1))
          continue;
        ++members;
        held += std::any_of(area.parts.begin(), area.parts.end(), [&](const Rect& part) {
          return part.left <= box.rect.left && part.top <= box.rect.top &&
                 part.right >= box.rect.right && part.bottom >= box.rect.bottom;
        });
      }
      CHECK(members > 0);
      CHECK(held == members);
    }
  }
}

TEST_CASE(
    "graph scene: a collapsed label replaces its nodes by one box and hides its inner edges") {
  GraphSceneKey key = key_of({.nodes = 200});
  const GraphScene open = make_graph_scene(key);
  key.collapsed = {"block 1"};
  const GraphScene scene = make_graph_scene(key);
  std::uint32_t inside = 0;
  const auto& record = scene.graph().record();
  const auto in_first = [&](std::uint32_t n) {
    return scene.graph().label_path(record.nodes[n].label).rfind("block 1", 0) == 0 &&
           record.nodes[n].label <= 3;
  };
  for (std::uint32_t n = 0; n < 200; ++n) inside += in_first(n) ? 1 : 0;
  REQUIRE(inside > 10);
  const auto box = std::find_if(scene.boxes.begin(), scene.boxes.end(),
                                [](const GraphBox& b) { return b.label != trace::kNone; });
  REQUIRE(box != scene.boxes.end());
  CHECK(box->name == "block 1");
  CHECK(scene.members_of(static_cast<std::uint32_t>(box - scene.boxes.begin())).size() == inside);
  CHECK(scene.boxes.size() == open.boxes.size() - inside + 1);
  for (std::uint32_t e = 0; e < record.edges.size(); ++e) {
    CHECK((scene.link_of[e] == trace::kNone) ==
          (in_first(record.edges[e].from) && in_first(record.edges[e].to)));
  }
}

TEST_CASE("graph scene: the area of a label has a title in each column of a folded chain") {
  trace::GraphVersion record = test::graph_record({.nodes = 1});
  record.labels = {{0, 0, 0}, {0, 7, 0}, {0, 8, 0}};
  record.nodes.resize(40, record.nodes[0]);
  record.edges.clear();
  for (std::uint32_t n = 0; n < 40; ++n) {
    record.nodes[n].label = n < 30 ? 1 : 2;
    if (n > 0)
      record.edges.push_back({n - 1, n, trace::EdgeCause::Captured, trace::Hazard::None,
                              trace::kNone, trace::kNone, 0, 0});
  }
  GraphSceneKey key = key_of({.nodes = 1});
  key.graph = std::make_shared<const model::Graph>(std::move(record));
  CHECK_FALSE(make_graph_scene(key).is_folded);
  key.view = {1000, 400};
  const GraphScene scene = make_graph_scene(key);
  CHECK(scene.is_folded);
  CHECK(foreign_boxes(scene) == 0);
  REQUIRE(scene.areas.size() == 2);
  REQUIRE(scene.areas[0].columns.size() > 1);
  for (std::size_t c = 1; c < scene.areas[0].columns.size(); ++c) {
    const GraphArea::Column &left = scene.areas[0].columns[c - 1],
                            &right = scene.areas[0].columns[c];
    CHECK(left.bounds.right < right.bounds.left);
    CHECK(right.first.top == right.bounds.top);
  }
}

TEST_CASE(
    "graph scene: a graph of too many nodes collapses its innermost labels, or outer ones if that "
    "leaves few enough boxes") {
  const GraphSceneKey key = key_of({.nodes = 200});
  const model::Graph& graph = *key.graph;
  CHECK(labels_to_collapse(graph, 200).empty());
  const std::set<std::string> inner = labels_to_collapse(graph, 100),
                              outer = labels_to_collapse(graph, 5);
  CHECK(inner.count("block 1 / attention") == 1);
  CHECK(outer.count("block 1 / attention") == 1);
  CHECK(outer.count("block 2") == 1);
  CHECK(labels_to_collapse(graph, 0) == std::set<std::string>{"block 1", "block 2", "block 3"});
  GraphSceneKey small = key;
  small.max_boxes = 100;
  const GraphScene scene = make_graph_scene(small);
  CHECK(scene.collapsed == inner);
  CHECK(scene.has_groups);
  CHECK(scene.boxes.size() <= 100);
  CHECK_FALSE(make_graph_scene(key).has_groups);
}

TEST_CASE(
    "graph scene: equal nodes of a rank share a box where there are too many, and an opened group "
    "shows its nodes") {
  GraphSceneKey key = key_of({.nodes = 1});
  trace::GraphVersion record = test::graph_record({.nodes = 1});
  record.labels = {{0, 0, 0}};
  record.nodes[0].label = 0;
  record.nodes.resize(32 * 20, record.nodes[0]);
  record.edges.clear();
  for (std::uint32_t n = 0; n + 32 < record.nodes.size(); ++n) {
    for (const std::uint32_t to : {n + 32, n / 32 * 32 + 32 + (n + 1) % 32})
      record.edges.push_back(
          {n, to, trace::EdgeCause::User, trace::Hazard::None, trace::kNone, trace::kNone, 0, 0});
  }
  record.nodes[32 * 10].name = 2;
  const std::string name = record.strings[record.nodes[0].name];
  key.graph = std::make_shared<const model::Graph>(std::move(record));
  CHECK(make_graph_scene(key).boxes.size() == 640);
  key.max_boxes = 100;
  const GraphScene scene = make_graph_scene(key);
  REQUIRE(scene.boxes.size() == 20 + 1);
  const GraphBox& first = scene.boxes[scene.box_of[0]];
  CHECK(first.is_group());
  CHECK(first.label == trace::kNone);
  CHECK(first.name == name + " x 32");
  CHECK(first.detail == "32 nodes");
  const std::string narrow = fit_box_name(first, key.text, key.text.width(name + " x 3"));
  CHECK(narrow.size() < first.name.size());
  CHECK(narrow.substr(narrow.size() - 5) == " x 32");
  CHECK(fit_box_name(first, key.text, key.text.width("x 32") + 1) == "x 32");
  CHECK(scene.boxes[scene.box_of[32 * 10]].node == 32 * 10);
  CHECK(scene.boxes[scene.box_of[32 * 10 + 1]].name == name + " x 31");
  key.opened = {64};
  const GraphScene opened = make_graph_scene(key);
  CHECK(opened.boxes.size() == 20 + 32);
  CHECK(opened.boxes[opened.box_of[70]].node == 70);
}

TEST_CASE("graph scene: boxes of equal nodes are as many as fill the view and can be read") {
  for (const std::uint32_t layers : {6u, 24u}) {
    CAPTURE(layers);
    constexpr std::uint32_t kWidth = 700;
    GraphSceneKey key = key_of({.nodes = 1});
    trace::GraphVersion record = test::graph_record({.nodes = 1});
    record.labels = {{0, 0, 0}};
    record.nodes[0].label = 0;
    record.nodes.resize(layers * kWidth, record.nodes[0]);
    record.edges.clear();
    for (std::uint32_t n = 0; n + kWidth < record.nodes.size(); ++n) {
      for (const std::uint32_t to : {n + kWidth, (n / kWidth + 1) * kWidth + (n + 1) % kWidth})
        record.edges.push_back(
            {n, to, trace::EdgeCause::User, trace::Hazard::None, trace::kNone, trace::kNone, 0, 0});
    }
    key.graph = std::make_shared<const model::Graph>(std::move(record));
    key.max_boxes = 100;
    key.view = {1000, 440};
    const GraphScene scene = make_graph_scene(key);
    const float across = key.view.width / scene.bounds.width(),
                along = key.view.height / scene.bounds.height();
    CHECK(std::min(across, along) > 0.45f);  // names are drawn from 0.34
    CHECK(std::max(across, along) < 2.5f * std::min(across, along));
    CHECK(scene.boxes.size() >= 20);
    key.opened = {kWidth};  // an open box leaves the others as they are
    CHECK(make_graph_scene(key).boxes.size() > scene.boxes.size() + 20);
    CHECK(make_graph_scene(key).box_of[0] == make_graph_scene(key).box_of[1]);
  }
}

TEST_CASE("graph scene: the same graph gives the same layout") {
  const GraphSceneKey key = key_of({.nodes = 400, .far_edges = 13});
  const GraphScene a = make_graph_scene(key), b = make_graph_scene(key);
  REQUIRE(a.boxes.size() == b.boxes.size());
  REQUIRE(a.points.size() == b.points.size());
  for (std::size_t i = 0; i < a.boxes.size(); ++i) {
    CHECK(a.boxes[i].rect.left == b.boxes[i].rect.left);
    CHECK(a.boxes[i].rect.top == b.boxes[i].rect.top);
  }
  CHECK(std::equal(a.points.begin(), a.points.end(), b.points.begin(),
                   [](Point p, Point q) { return p.x == q.x && p.y == q.y; }));
}

TEST_CASE("graph index: finds the same rectangles as a linear search") {
  std::mt19937 random(5);
  const auto number = [&](float max) {
    return static_cast<float>(random() % 10'000) / 10'000 * max;
  };
  std::vector<Rect> rects;
  for (int i = 0; i < 500; ++i) {
    const float x = number(20'000) - 3'000, y = number(9'000) - 2'000,
                size = i % 50 == 0 ? 6'000.0f : 150.0f;
    rects.push_back({x, y, x + number(size), y + number(size)});
  }
  const GraphIndex index(rects);
  std::vector<std::uint32_t> found;
  for (int i = 0; i < 60; ++i) {
    const float x = number(20'000) - 3'000, y = number(9'000) - 2'000;
    const Rect part{x, y, x + number(i % 3 == 0 ? 20'000.0f : 500.0f),
                    y + number(i % 3 == 0 ? 20'000.0f : 300.0f)};
    std::vector<std::uint32_t> expected;
    for (std::uint32_t r = 0; r < rects.size(); ++r) {
      if (meets(rects[r], part)) expected.push_back(r);
    }
    index.find(part, found);
    CHECK(found == expected);
  }
}

TEST_CASE(
    "graph lod: each level has every box in one block and every link in one bundle, and no more of "
    "them than the level before") {
  const GraphScene scene = make_graph_scene(key_of({.nodes = 600, .far_edges = 7}));
  std::size_t blocks_before = 601, bundles_before = scene.links.size();
  for (std::uint32_t level = 0; level < GraphLod::kLevels; ++level) {
    std::vector<std::uint32_t> seen(600, 0);
    for (const GraphBlock& block : scene.lod.blocks(level)) {
      for (const std::uint32_t box : scene.lod.boxes_of(level, block)) ++seen[box];
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](std::uint32_t count) { return count == 1; }));
    CHECK(scene.lod.blocks(level).size() <= blocks_before);
    blocks_before = scene.lod.blocks(level).size();
    std::size_t links = 0;
    for (const GraphBundle& bundle : scene.lod.bundles(level)) links += bundle.count;
    CHECK(links == scene.links.size());
    CHECK(scene.lod.bundles(level).size() <= bundles_before);
    bundles_before = scene.lod.bundles(level).size();
  }
  CHECK(bundles_before == 1);
  CHECK(blocks_before == 1);
}

TEST_CASE(
    "graph highlights: a filter fades nodes that do not match, and a selected buffer and the "
    "critical path highlight their nodes") {
  test::PanelFixture fixture({900, 600});
  fixture.view.filter.text = "blur";
  fixture.update();
  const GraphScene scene = make_graph_scene(
      {fixture.entry().graph, Direction::Down, {}, plain_widths(), plain_widths(), 1});
  const GraphHighlights faded = make_graph_highlights(scene, fixture.panel_context(), 0xffffffffu);
  std::uint32_t bright = 0;
  for (std::uint32_t n = 0; n < 5; ++n)
    bright += (faded.boxes[scene.box_of[n]] & HighlightBit::kFaded) == 0 ? 1 : 0;
  CHECK(bright ==
        static_cast<std::uint32_t>(std::count(fixture.matches.begin(), fixture.matches.end(), 1)));
  CHECK(bright < 5);
  CHECK((faded.boxes[scene.box_of[2]] & HighlightBit::kFaded) == 0);

  fixture.view.selection = model::SelectedBuffer{fixture.view.graph, 0};
  const GraphHighlights highlights =
      make_graph_highlights(scene, fixture.panel_context(), cause_bit(trace::EdgeCause::Hazard));
  for (std::uint32_t n = 0; n < 5; ++n)
    CHECK((highlights.boxes[scene.box_of[n]] & HighlightBit::kSelected) != 0);
  for (std::uint32_t n = 0; n < 5; ++n) {
    CHECK(((highlights.boxes[scene.box_of[n]] & HighlightBit::kCritical) != 0) ==
          fixture.view_model.nodes[n].is_critical);
  }
  const auto& edges = scene.graph().record().edges;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    CHECK(((highlights.links[scene.link_of[e]] & HighlightBit::kHidden) != 0) ==
          (edges[e].cause != trace::EdgeCause::Hazard));
  }
}

TEST_CASE(
    "graph highlights: with a selected node all others are unrelated, except its neighbours and "
    "the "
    "critical path") {
  test::PanelFixture fixture({900, 600});
  fixture.view.critical_path = false;
  fixture.update();
  const GraphScene scene = make_graph_scene(
      {fixture.entry().graph, Direction::Down, {}, plain_widths(), plain_widths(), 1});
  const model::Graph& graph = scene.graph();
  const auto unrelated = [&] {
    const GraphHighlights highlights =
        make_graph_highlights(scene, fixture.panel_context(), 0xffffffffu);
    std::set<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      if ((highlights.boxes[scene.box_of[n]] & HighlightBit::kUnrelated) != 0) nodes.insert(n);
    }
    return nodes;
  };
  CHECK(unrelated().empty());
  fixture.view.selection = model::SelectedNode{fixture.view.graph, 0};
  std::set<std::uint32_t> expected = {1, 2, 3, 4};
  for (const model::Neighbour n : graph.successors(0)) expected.erase(n.node);
  REQUIRE_FALSE(expected.empty());
  CHECK(unrelated() == expected);
  fixture.view.critical_path = true;
  for (const model::PathStep& step : fixture.view_model.path.steps) expected.erase(step.node);
  CHECK(unrelated() == expected);
}

TEST_CASE("graph highlights: a critical path through all nodes is not outlined") {
  test::PanelFixture fixture({900, 600});
  const GraphScene scene = make_graph_scene(
      {fixture.entry().graph, Direction::Down, {}, plain_widths(), plain_widths(), 1});
  model::CriticalPath& path = fixture.view_model.path;
  path.steps.clear();
  const auto outlined = [&] {
    const GraphHighlights highlights = make_graph_highlights(scene, fixture.panel_context(), 0);
    return std::count_if(highlights.boxes.begin(), highlights.boxes.end(),
                         [](std::uint8_t box) { return (box & HighlightBit::kCritical) != 0; });
  };
  for (std::uint32_t n = 0; n < 4; ++n) path.steps.push_back({n, trace::kNone});
  CHECK(outlined() == 4);
  path.steps.push_back({4, trace::kNone});
  CHECK(outlined() == 0);
}

TEST_CASE("graph highlights: the time of a collapsed label is the sum of its members' times") {
  test::PanelFixture fixture({900, 600});
  GraphSceneKey key{fixture.entry().graph, Direction::Down, {}, plain_widths(), plain_widths(), 1};
  key.collapsed = {"epoch"};
  const GraphScene scene = make_graph_scene(key);
  const auto box = std::find_if(scene.boxes.begin(), scene.boxes.end(),
                                [](const GraphBox& b) { return b.label != trace::kNone; });
  REQUIRE(box != scene.boxes.end());
  const auto index = static_cast<std::uint32_t>(box - scene.boxes.begin());
  double sum = 0, share = 0;
  for (const std::uint32_t node : scene.members_of(index)) {
    sum += fixture.view_model.nodes[node].median;
    share += fixture.view_model.nodes[node].share;
  }
  CHECK(scene.members_of(index).size() == 4);
  const GraphBoxTime time = box_time(scene, fixture.panel_context(), index);
  CHECK(time.median == doctest::Approx(sum));
  CHECK(time.share == doctest::Approx(share));
}

TEST_CASE(
    "graph highlights: the time of a collapsed label counts a node and the bodies it runs once") {
  trace::GraphVersion record = test::graph_record({.nodes = 2});
  record.labels = {{0, 0, 0}, {0, 7, 0}};
  record.edges.clear();
  for (trace::Node& node : record.nodes) node.label = 1;
  record.nodes[0].kind = trace::NodeKind::Conditional;
  record.bodies = {{0, 0, 1, 1, trace::BodyKind::Loop}};
  GraphSceneKey key = key_of({.nodes = 1});
  key.graph = std::make_shared<const model::Graph>(std::move(record));
  key.collapsed = {"block"};
  const GraphScene scene = make_graph_scene(key);
  test::PanelFixture fixture({900, 600});
  fixture.view_model.nodes.resize(2);
  fixture.view_model.nodes[0] = {{.count = 1, .median = 100, .share = 1}};
  fixture.view_model.nodes[1] = {{.count = 1, .median = 90, .share = 0.9}};
  REQUIRE(scene.boxes.size() == 1);
  const GraphBoxTime time = box_time(scene, fixture.panel_context(), 0);
  CHECK(time.median == 100);
  CHECK(time.share == 1);
}

TEST_CASE("graph text: long text keeps its start and end and never exceeds the limit") {
  const TextWidths widths = plain_widths();
  CHECK(widths.fit("short", 100) == "short");
  for (const float limit : {60.0f, 77.0f, 100.0f, 140.0f}) {
    const std::string text = widths.fit("attention_scores_of_all_heads", limit);
    CHECK(widths.width(text) <= limit);
    CHECK(text.rfind("att", 0) == 0);
    CHECK(text.find("..") != std::string::npos);
  }
  CHECK(widths.fit("attention", 10).empty());
}

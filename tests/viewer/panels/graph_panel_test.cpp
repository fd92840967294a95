#include "panels/graph/graph_panel.hpp"

#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <optional>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/graph/graph_layouts.hpp"
#include "panels/graph/graph_svg.hpp"
#include "panels/graph/graph_toolbar.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/graph_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"

namespace {

using namespace reprise;
using namespace reprise::viewer;

// A graph panel that fills a window, and helpers that search it with the mouse.
struct GraphPanelDriver {
  explicit GraphPanelDriver(
      std::shared_ptr<const model::Document> document = test::hand_made_document(),
      ImVec2 size = {1000, 640})
      : fixture(size, std::move(document)), panel(fixture.background), size_(size) {
    fixture.settle(panel);
  }
  void draw() {
    fixture.view.hovered = {};
    fixture.window([&] { fixture.draw(panel); });
  }
  // Moves the mouse row by row until `is` is true and returns that position.
  template <class Is>
  std::optional<ImVec2> find(Is is, float top, float step) {
    for (float y = top; y < size_.y; y += step) {
      for (float x = 6; x < size_.x; x += step) {
        fixture.move_mouse({x, y});
        draw();
        if (is()) return ImVec2{x, y};
      }
    }
    return std::nullopt;
  }
  std::optional<ImVec2> find_node(std::uint32_t node) {
    return find(
        [&] {
          return fixture.view.hovered ==
                 model::Selection(model::SelectedNode{fixture.view.graph, node});
        },
        40, 9);
  }
  // Clicks a toggle of the toolbar. False if the toggle is not found.
  bool click_toggle(const char* id) {
    ImGuiID wanted = 0;
    fixture.window([&] {
      ImGui::PushID(id);
      wanted = ImGui::GetID("toggle");
      ImGui::PopID();
      fixture.draw(panel);
    });
    for (float x = 4; x < size_.x; x += 6) {
      fixture.move_mouse({x, 18});
      draw();
      if (ImGui::GetCurrentContext()->HoveredIdPreviousFrame != wanted &&
          ImGui::GetHoveredID() != wanted)
        continue;
      fixture.click({x, 18}, [&] { fixture.draw(panel); });
      fixture.settle(panel);
      return true;
    }
    return false;
  }
  [[nodiscard]] std::string text() {
    return fixture.text([&] { fixture.draw(panel); });
  }

  test::PanelFixture fixture;
  GraphPanel panel;

 private:
  ImVec2 size_;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("graph panel: a missing or empty graph shows a message") {
  test::PanelFixture fixture({600, 400});
  GraphPanel panel(fixture.background);
  fixture.view.graph = {99, 1};
  CHECK(fixture.text([&] { fixture.draw(panel); }).find("No graph yet") != std::string::npos);

  trace::GraphVersion empty;
  empty.graph = 1;
  empty.version = 1;
  empty.label = "hollow";
  empty.strings = {""};
  empty.labels = {{0, 0, 0}};
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.graph_versions.push_back(empty);
  builder.add(std::move(records));
  fixture.document = builder.publish();
  fixture.show({1, 1});
  CHECK(fixture.text([&] { fixture.draw(panel); }).find("\"hollow\" has no nodes") !=
        std::string::npos);
}

TEST_CASE(
    "graph panel: a click on a node selects it, a click on the background clears the selection, "
    "and hovering sets ViewState::hovered") {
  GraphPanelDriver driver;
  const auto at = driver.find_node(3);
  REQUIRE(at.has_value());
  driver.fixture.click(*at, [&] { driver.fixture.draw(driver.panel); });
  CHECK(driver.fixture.view.selection ==
        model::Selection(model::SelectedNode{driver.fixture.view.graph, 3}));
  CHECK(driver.fixture.view.reveal_selection);
  const auto is_free = [&] {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    return std::holds_alternative<std::monostate>(driver.fixture.view.hovered) &&
           context.HoveredId != 0 &&
           std::string(context.HoveredWindow->Name) == "window";  // the canvas and no overlay
  };
  const auto background = driver.find(is_free, 60, 11);
  REQUIRE(background.has_value());
  driver.fixture.click(*background, [&] { driver.fixture.draw(driver.panel); });
  CHECK(std::holds_alternative<std::monostate>(driver.fixture.view.selection));
}

TEST_CASE("graph panel: a click on an edge selects it") {
  GraphPanelDriver driver;
  const auto at = driver.find(
      [&] { return std::holds_alternative<model::SelectedEdge>(driver.fixture.view.hovered); }, 40,
      5);
  REQUIRE(at.has_value());
  driver.fixture.click(*at, [&] { driver.fixture.draw(driver.panel); });
  const auto* edge = std::get_if<model::SelectedEdge>(&driver.fixture.view.selection);
  REQUIRE(edge != nullptr);
  CHECK(edge->edge < driver.fixture.entry().graph->record().edges.size());
}

TEST_CASE("graph panel: the toolbar shows the node count and the number of filter matches") {
  GraphPanelDriver driver(test::hand_made_document(), {1200, 640});
  CHECK(driver.text().find("5 nodes, 5 edges") != std::string::npos);
  driver.fixture.view.filter.text = "blur";
  driver.fixture.update();
  const auto passing = std::count(driver.fixture.matches.begin(), driver.fixture.matches.end(), 1);
  CHECK(driver.text().find(std::to_string(passing) + " of 5 nodes match") != std::string::npos);
}

TEST_CASE("graph panel: collapsing labels hides their nodes and expanding restores them") {
  GraphPanelDriver driver;
  REQUIRE(driver.find_node(3).has_value());
  REQUIRE(driver.click_toggle("labels"));
  CHECK_FALSE(driver.find_node(3).has_value());
  CHECK(driver.find_node(0).has_value());  // in no label
  REQUIRE(driver.click_toggle("labels"));
  CHECK(driver.find_node(3).has_value());
}

TEST_CASE(
    "graph panel: a graph of 5,000 nodes is drawn with groups, a double-click opens one, and the "
    "toolbar expands all") {
  GraphPanelDriver driver(test::graph_document({.nodes = 5'000, .width = 40}), {1200, 700});
  CHECK(driver.text().find("5,000 nodes in 47 boxes") != std::string::npos);
  const auto group = driver.find(
      [&] { return driver.text().find("Double-click to expand.") != std::string::npos; }, 40, 5);
  REQUIRE(group.has_value());
  driver.fixture.double_click(*group, [&] { driver.fixture.draw(driver.panel); });
  driver.fixture.settle(driver.panel);
  const std::string opened = driver.text();
  CHECK(opened.find("5,000 nodes in ") != std::string::npos);
  CHECK(opened.find(" in 47 boxes") == std::string::npos);
  REQUIRE(driver.click_toggle("labels"));
  CHECK(driver.text().find("5,000 nodes, ") != std::string::npos);
}

TEST_CASE("graph panel: the view model of one replay has one sample per node") {
  test::PanelFixture fixture({600, 400});
  REQUIRE(fixture.replay.has_value());
  const model::Graph& graph = *fixture.entry().graph;
  const GraphViewModel view_model = view_model_of_replay(graph, *fixture.replay);
  double share = 0;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const double expected =
        static_cast<double>(test::hand_made_time(n, fixture.replay->replay.replay));
    CHECK(view_model.nodes[n].median == expected);
    CHECK(view_model.nodes[n].p99 == expected);
    CHECK(view_model.nodes[n].count == 1);
    share += view_model.nodes[n].share;
  }
  CHECK(share == doctest::Approx(1));
  CHECK(view_model.samples == graph.node_count());
  CHECK(view_model.min < view_model.max);
}

TEST_CASE("graph panel: the wheel zooms through all levels of detail and every frame is drawable") {
  GraphPanelDriver driver(test::graph_document({.nodes = 400, .width = 20}), {1200, 700});
  const int zoomed_out = driver.fixture.vertices();
  driver.fixture.move_mouse({600, 380});
  for (int i = 0; i < 30; ++i) {
    driver.fixture.wheel(1);
    driver.draw();
    CHECK(driver.fixture.is_drawable());
  }
  CHECK(driver.fixture.vertices() != zoomed_out);
  CHECK(graph_detail(0.01f) == GraphDetail::Blocks);
  CHECK(graph_detail(0.2f) == GraphDetail::Plain);
  CHECK(graph_detail(0.5f) == GraphDetail::Name);
  CHECK(graph_detail(1.0f) == GraphDetail::Full);
  CHECK(graph_detail(1.5f) == GraphDetail::Rich);
}

TEST_CASE(
    "graph panel: 10,000 nodes take fewer than 120,000 vertices, the same number in each run") {
  const auto document = test::graph_document({.nodes = 10'000, .width = 40, .far_edges = 17});
  int first = 0;
  for (int i = 0; i < 2; ++i) {
    GraphPanelDriver driver(document, {1600, 900});
    CHECK(driver.fixture.is_drawable());
    CHECK(driver.fixture.vertices() > 1'000);
    CHECK(driver.fixture.vertices() < 120'000);
    if (i == 0) first = driver.fixture.vertices();
    CHECK(driver.fixture.vertices() == first);
  }
}

TEST_CASE("graph panel: a selection from another panel is revealed at a visible size") {
  GraphPanelDriver driver(test::graph_document({.nodes = 3'000, .width = 30}), {1200, 700});
  driver.fixture.view.select(model::SelectedNode{driver.fixture.view.graph, 2'500});
  driver.draw();
  driver.fixture.view.reveal_selection = false;
  driver.draw();
  driver.fixture.move_mouse({692, 370});  // the middle of the canvas
  driver.draw();
  CHECK(driver.fixture.view.hovered ==
        model::Selection(model::SelectedNode{driver.fixture.view.graph, 2'500}));
}

TEST_CASE("graph panel: a graph without samples is drawn with plain nodes") {
  GraphPanelDriver driver(test::graph_document({.nodes = 60, .replays = 0}), {900, 500});
  CHECK(driver.fixture.view_model.samples == 0);
  CHECK(driver.fixture.vertices() > 500);
  CHECK(driver.find_node(30).has_value());
}

TEST_CASE("graph panel: the legend is beside the canvas and covers no node") {
  // At every zoom, no point of the legend hits a node.
  GraphPanelDriver driver(test::graph_document({.nodes = 400, .width = 20}), {1200, 700});
  driver.fixture.move_mouse({700, 380});
  for (int zoom = 0; zoom < 3; ++zoom) {
    for (float y = 60; y < 690; y += 40) {
      driver.fixture.move_mouse({90, y});
      driver.draw();
      CHECK(std::holds_alternative<std::monostate>(driver.fixture.view.hovered));
    }
    driver.fixture.move_mouse({700, 380});
    driver.fixture.wheel(6);
    driver.draw();
  }
  CHECK(driver.text().find("edge cause") != std::string::npos);
}

TEST_CASE(
    "graph panel: a panel that is too narrow for the legend gives the canvas its whole width") {
  GraphPanelDriver driver(test::hand_made_document(), {400, 640});
  CHECK(driver.text().find("edge cause") == std::string::npos);
}

TEST_CASE("graph panel: the title of a label stays in view while its boxes are") {
  GraphPanelDriver driver(test::graph_document({.nodes = 400, .width = 20}), {1200, 700});
  driver.fixture.move_mouse({700, 400});
  for (int i = 0; i < 7; ++i) {
    driver.fixture.wheel(1);
    driver.draw();
  }
  bool found = false;
  for (float y = 40; y < 64 && !found; y += 6) {
    for (float x = 190; x < 1190 && !found; x += 12) {
      driver.fixture.move_mouse({x, y});
      driver.draw();
      found = driver.text().find("Double-click to collapse.") != std::string::npos;
    }
  }
  CHECK(found);
}

TEST_CASE(
    "graph panel: at low zoom the title of a nested label is not wider than the area around it") {
  trace::GraphVersion record = test::graph_record({.nodes = 1});
  const auto name = [&](const char* text) {
    record.strings.emplace_back(text);
    return static_cast<std::uint32_t>(record.strings.size() - 1);
  };
  record.labels = {{0, 0, 0}};
  record.nodes.resize(60, record.nodes[0]);
  record.edges.clear();
  for (std::uint32_t n = 0; n < 60; ++n) {
    const auto last = static_cast<std::uint32_t>(record.labels.size() - 1);
    if (n % 3 == 0) record.labels.push_back({0, name("encoder layer"), 0});
    if (n % 3 == 1) record.labels.push_back({last, name("nested::norm"), 0});
    record.nodes[n].label = static_cast<std::uint32_t>(record.labels.size() - 1);
    if (n > 0)
      record.edges.push_back({n - 1, n, trace::EdgeCause::Captured, trace::Hazard::None,
                              trace::kNone, trace::kNone, 0, 0});
  }
  test::PanelFixture fixture({900, 500});
  const GraphSceneKey key{std::make_shared<const model::Graph>(std::move(record)),
                          Direction::Down,
                          {},
                          TextWidths::of(fixture.theme.text),
                          TextWidths::of(fixture.theme.small),
                          1,
                          {900, 500}};
  const GraphScene scene = make_graph_scene(key);
  REQUIRE(scene.is_folded);
  const GraphHighlights highlights;
  const std::vector<GraphBoxTime> times;
  Canvas canvas(CanvasAxes::Both);
  std::size_t nested = 0;
  for (int frame = 0; frame < 2; ++frame) {  // the second with the zoom of the first
    fixture.window([&] {
      const PanelContext context = fixture.panel_context();
      canvas.begin("graph",
                   {scene.bounds.left, scene.bounds.top, scene.bounds.right, scene.bounds.bottom},
                   fixture.theme);
      const GraphDrawContext drawing{scene,   highlights, times,
                                     context, canvas,     *ImGui::GetWindowDrawList()};
      if (frame == 1) REQUIRE(graph_detail(drawing.zoom()) == GraphDetail::Name);
      for (const GraphPlate& plate : graph_plates(drawing, {})) {
        if (plate.area->depth == 0) continue;
        ++nested;
        const std::uint32_t outer = scene.graph().record().labels[plate.area->group + 1].parent;
        bool is_inside = false;
        for (const GraphArea& area : scene.areas) {
          for (const GraphArea::Column& column : area.columns) {
            const Rect around = drawing.on_screen(column.bounds);
            is_inside |= area.group + 1 == outer && around.left <= plate.rect.left &&
                         plate.rect.right <= around.right;
          }
        }
        CHECK(is_inside);
      }
      canvas.end();
    });
  }
  CHECK(nested > 0);
}

TEST_CASE(
    "graph svg: well-formed, with one box per node, its escaped name, and the causes of edges") {
  GraphPanelDriver driver;
  driver.fixture.view.graph_svg = true;
  driver.draw();
  REQUIRE(driver.fixture.view.save.has_value());
  CHECK(driver.fixture.view.save->name == "graph.svg");
  const std::string svg = driver.fixture.view.save->contents;
  test::check_well_formed(svg);
  CHECK(count_of(svg, "<rect class=\"box\"") == 5);
  CHECK(count_of(svg, "<g class=\"node\"") == 5);
  CHECK(count_of(svg, "<g class=\"edge\"") == 5);
  test::check_in_order(svg, {"<title>step, nodes by", "data-cause=\"", "saxpy &quot;a, b&quot;"});
  CHECK(svg.find("read after write on x&lt;&amp;&gt;") != std::string::npos);
  CHECK(svg.find("stroke-dasharray") != std::string::npos);  // the lane
  CHECK(svg.find(" us") != std::string::npos);
}

TEST_CASE("graph panel: a chain in a low panel leads to the right where its names can be read") {
  GraphPanelDriver driver;
  GraphLayouts layouts(driver.fixture.background);
  trace::GraphVersion record = test::graph_record({.nodes = 1});
  record.labels = {{0, 0, 0}};
  record.nodes.resize(9, record.nodes[0]);
  record.edges.clear();
  for (std::uint32_t n = 0; n < 9; ++n) {
    record.nodes[n].label = 0;
    if (n > 0)
      record.edges.push_back({n - 1, n, trace::EdgeCause::User, trace::Hazard::None, trace::kNone,
                              trace::kNone, 0, 0});
  }
  const GraphLayoutDesc desc{.graph = std::make_shared<const model::Graph>(std::move(record)),
                             .direction = {},
                             .collapsed = {},
                             .opened = {},
                             .text = TextWidths::of(nullptr),
                             .small = TextWidths::of(nullptr),
                             .width = 1000,
                             .height = 200};
  const auto scene_in = [&](float height) {
    GraphLayoutDesc in = desc;
    in.height = height;
    static_cast<void>(layouts.request(in));
    driver.fixture.background.wait_until_idle();
    return layouts.request(in);
  };
  const auto scene = scene_in(200);
  REQUIRE(scene != nullptr);
  CHECK(scene->key.direction == Direction::Right);
  CHECK_FALSE(scene->is_folded);
  CHECK(scene_in(900)->key.direction == Direction::Down);
  CHECK(scene_in(200)->key.direction == Direction::Right);  // also if it was high before
}

TEST_CASE("graph svg: a collapsed label is one box, and hidden causes have no edges") {
  GraphPanelDriver driver(test::graph_document({.nodes = 100}));
  driver.fixture.view.graph_svg = true;
  driver.draw();
  const std::string all = std::exchange(driver.fixture.view.save, std::nullopt)->contents;
  test::check_well_formed(all);
  CHECK(count_of(all, "<rect class=\"box\"") == 100);
  CHECK(count_of(all, "<path class=\"outline\"") > 0);
  const auto graph = driver.fixture.entry().graph;
  const GraphScene scene = make_graph_scene({.graph = graph,
                                             .direction = Direction::Down,
                                             .collapsed = labels_to_collapse(*graph, 0),
                                             .text = TextWidths::of(nullptr),
                                             .small = TextWidths::of(nullptr)});
  const std::string collapsed = graph_svg(scene, driver.fixture.panel_context(), 0xffffffffu);
  test::check_well_formed(collapsed);
  CHECK(count_of(collapsed, "<rect class=\"box\"") == scene.boxes.size());
  CHECK(count_of(collapsed, "<g class=\"group\"") > 0);
  CHECK(collapsed.find("sum ") != std::string::npos);
  CHECK(count_of(graph_svg(scene, driver.fixture.panel_context(), 0), "<g class=\"edge\"") == 0);
}

TEST_CASE("graph svg: characters that XML forbids are replaced") {
  CHECK(xml_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
  CHECK(xml_text(std::string("bell\x07 nul\0", 10)) == "bell? nul?");
  CHECK(xml_text("caf\xc3\xa9") == "caf&#233;");
  CHECK(xml_text("bad \xff\xfe.").find('\xff') == std::string::npos);
}

TEST_CASE("graph panel: the menu of a node shows and filters it, and that of an edge its ends") {
  GraphPanelDriver driver;
  const auto draw = [&] {
    driver.fixture.view.hovered = {};
    driver.fixture.draw(driver.panel);
  };
  const auto node = driver.find_node(3);
  REQUIRE(node.has_value());
  driver.fixture.click(*node, draw, 1);
  driver.fixture.choose("Show in Nodes", draw);
  CHECK(driver.fixture.view.selection ==
        model::Selection{model::SelectedNode{driver.fixture.view.graph, 3}});
  CHECK(driver.fixture.view.lower == View::Nodes);
  driver.fixture.click(*node, draw, 1);
  driver.fixture.choose("Save as SVG", draw);
  CHECK(driver.fixture.view.save.has_value());
  const auto edge = driver.find(
      [&] { return std::holds_alternative<model::SelectedEdge>(driver.fixture.view.hovered); }, 40,
      5);
  REQUIRE(edge.has_value());
  driver.fixture.click(*edge, draw, 1);
  driver.fixture.choose("Show in Sync", draw);
  CHECK(std::holds_alternative<model::SelectedEdge>(driver.fixture.view.selection));
  CHECK(driver.fixture.view.upper == View::Sync);
}

TEST_CASE("graph panel: the context menu shows the frame rate") {
  GraphPanelDriver driver;
  const auto draw = [&] { driver.fixture.draw(driver.panel); };
  driver.fixture.click({900, 600}, draw, 1);
  driver.fixture.window(draw);
  const ImGuiWindow* menu = ImGui::GetCurrentContext()->OpenPopupStack.empty()
                                ? nullptr
                                : ImGui::GetCurrentContext()->OpenPopupStack.back().Window;
  REQUIRE(menu != nullptr);
  const int before = driver.fixture.vertices();
  driver.fixture.click({menu->Pos.x + 40, menu->Pos.y + menu->Size.y - 16}, draw);
  driver.draw();
  driver.fixture.move_mouse({0, 0});
  driver.draw();
  driver.draw();
  const int with = driver.fixture.vertices();
  driver.fixture.click({900, 600}, draw, 1);
  driver.fixture.window(draw);
  driver.fixture.click({menu->Pos.x + 40, menu->Pos.y + menu->Size.y - 16}, draw);
  driver.fixture.move_mouse({0, 0});
  driver.draw();
  driver.draw();
  CHECK(driver.fixture.vertices() < with);
  CHECK(before > 0);
}

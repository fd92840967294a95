#include "panels/graph_panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panels/canvas.hpp"
#include "panels/format.hpp"
#include "panels/graph_drawing.hpp"
#include "panels/graph_hit.hpp"
#include "panels/graph_layouts.hpp"
#include "panels/graph_menu.hpp"
#include "panels/graph_overlay.hpp"
#include "panels/graph_replay.hpp"
#include "panels/graph_toolbar.hpp"
#include "panels/keys.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kLeastBoxHeight = 5;  // points of the screen, below which a box that is looked for is magnified

CanvasBounds bounds_of(const Rect& r) {
  return {static_cast<double>(r.left), static_cast<double>(r.top), static_cast<double>(r.right), static_cast<double>(r.bottom)};
}
bool contains(const CanvasBounds& outer, const CanvasBounds& inner) {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
}

}  // namespace

struct GraphPanel::State {
  explicit State(Background& background) : layouts(background) {}

  void draw(Frame& frame);

 private:
  const GraphFacts* facts_to_show(const Frame& frame);
  void take(std::shared_ptr<const GraphScene> next, const Frame& frame);
  void draw_picture(Frame& frame);
  void act(Frame& frame, const GraphDrawing& drawing, const GraphHit& hit);
  void do_wish(Frame& frame, const GraphMenuWish& wish);
  void draw_tooltip(const GraphDrawing& drawing, const GraphHit& hit) const;
  void reveal(const Frame& frame, const GraphDrawing& drawing);
  void focus(std::uint32_t box);

  GraphLayouts layouts;
  GraphOptions options;
  std::shared_ptr<const GraphScene> scene;
  Canvas canvas{CanvasAxes::Both};
  GraphLegend legend;
  GraphMenu menu;
  GraphMarks marks;
  std::uint32_t anchor = trace::kNone;  // a node that stays where it is when the next scene comes
  model::Selection revealed;
  bool was_asked_to_reveal = false;
  // Of one replay: facts, of which graph, and by which samples.
  GraphFacts replay_facts;
  std::pair<std::shared_ptr<const model::Graph>, model::SampleStore::Block> replay_of;
};

GraphPanel::GraphPanel(Background& background) : state_(std::make_unique<State>(background)) {}
GraphPanel::~GraphPanel() = default;
void GraphPanel::draw(Frame& frame) { state_->draw(frame); }

void GraphPanel::State::draw(Frame& frame) {
  const model::Graph* const graph = frame.graph();
  if (graph == nullptr) {
    draw_empty(frame.theme, "No graph yet", frame.is_live ? "It appears here as soon as the session compiles one." : "The trace describes no graph.");
    return;
  }
  if (graph->node_count() == 0) return draw_empty(frame.theme, "\"" + graph->name() + "\" has no nodes", "Nothing was recorded in it.");
  const ImVec2 room = ImGui::GetContentRegionAvail();
  std::shared_ptr<const GraphScene> next = layouts.ask({.graph = frame.entry->graph,
                                                        .direction = options.direction,
                                                        .collapsed = options.collapsed,
                                                        .text = TextWidths::of(frame.theme.text),
                                                        .small = TextWidths::of(frame.theme.small),
                                                        .scale = frame.theme.scale,
                                                        .width = room.x,
                                                        .height = std::max(1.0f, room.y - ImGui::GetFrameHeightWithSpacing())});
  if (next != scene && next != nullptr) take(std::move(next), frame);

  static const std::vector<std::uint8_t> kNoFilter;
  const bool has_scene = scene != nullptr && scene->key.graph == frame.entry->graph;
  Frame shown{
      frame.document, frame.entry,     facts_to_show(frame), frame.replay,  frame.matches.size() == graph->node_count() ? frame.matches : kNoFilter,
      frame.other,    frame.name,      frame.other_name,     frame.is_live, frame.view,
      frame.theme,    frame.background};
  const Direction direction = options.direction.value_or(has_scene ? scene->key.direction : Direction::Down);
  if (draw_graph_toolbar(shown, {.scene = has_scene ? scene.get() : nullptr, .direction = direction, .is_busy = layouts.is_busy()}, options) ==
      GraphWish::Fit) {
    canvas.fit();
  }
  if (has_scene) return draw_picture(shown);
  const std::string error = layouts.error();
  if (!error.empty() && !layouts.is_busy()) return draw_empty(frame.theme, "This graph can't be drawn", error);
  draw_busy(frame.theme, "Laying out " + count_text(graph->node_count()) + (graph->node_count() == 1 ? " node" : " nodes") + "...");
}

// Over the range, or of the replay that is shown; null while they are of another graph.
const GraphFacts* GraphPanel::State::facts_to_show(const Frame& frame) {
  const model::Graph& graph = *frame.graph();
  if (options.times == GraphTimes::Replay && frame.replay != nullptr && frame.replay->times.nodes.size() == graph.node_count()) {
    const std::pair of{frame.entry->graph, frame.replay->block};
    if (of.second == nullptr || replay_of != of) {
      replay_facts = facts_of_replay(graph, *frame.replay);
      replay_of = of;
    }
    return &replay_facts;
  }
  const bool fits = frame.facts != nullptr && frame.facts->key == graph.key() && frame.facts->nodes.size() == graph.node_count();
  return fits ? frame.facts : nullptr;
}

// Another picture of the same graph keeps its place; what was clicked stays below the mouse.
void GraphPanel::State::take(std::shared_ptr<const GraphScene> next, const Frame& frame) {
  menu.forget();
  const std::shared_ptr<const GraphScene> before = std::exchange(scene, std::move(next));
  const std::uint32_t held = std::exchange(anchor, trace::kNone);
  const bool is_same = before != nullptr && before->key.graph == scene->key.graph && before->key.direction == scene->key.direction;
  if (!is_same || contains(canvas.in_sight(), bounds_of(before->bounds))) return canvas.fit();
  const auto* selected = std::get_if<model::SelectedNode>(&frame.view.selection);
  const CanvasBounds sight = canvas.in_sight();
  const double x = (sight.left + sight.right) / 2, y = (sight.top + sight.bottom) / 2;
  std::uint32_t node = held;
  if (node == trace::kNone && selected != nullptr && selected->graph == scene->graph().key()) node = selected->node;
  if (node >= scene->box_of.size()) return;
  const Rect was = before->boxes[before->box_of[node]].rect, is = scene->boxes[scene->box_of[node]].rect;
  canvas.centre(x + static_cast<double>(is.left - was.left), y + static_cast<double>(is.top - was.top));
}

void GraphPanel::State::draw_picture(Frame& frame) {
  ImGui::PushID("picture");
  canvas.keep_free(options.legend ? legend.room() : 0);
  canvas.begin("graph", bounds_of(scene->bounds), frame.theme);
  if (std::exchange(frame.view.fit, false)) canvas.fit();
  const GraphDrawing drawing{*scene, marks, frame, canvas, *ImGui::GetWindowDrawList(), options.causes};
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const GraphHit hit = canvas.is_hovered() ? hit_graph(drawing, mouse) : GraphHit{};
  if (canvas.is_hovered()) {
    frame.view.hovered = {};
    const model::GraphKey key = scene->graph().key();
    if (hit.box != trace::kNone && scene->boxes[hit.box].node != trace::kNone)
      frame.view.hovered = model::SelectedNode{key, scene->boxes[hit.box].node};
    if (hit.link != trace::kNone) frame.view.hovered = model::SelectedEdge{key, edge_of_link(drawing, hit.link)};
  }
  reveal(frame, drawing);
  marks = graph_marks(*scene, frame, options.causes);
  draw_graph_areas(drawing);
  draw_graph_links(drawing);
  draw_graph_boxes(drawing);
  draw_graph_titles(drawing);
  canvas.end();
  if (canvas.is_hovered()) act(frame, drawing, hit);
  do_wish(frame, menu.draw(frame, *scene, options));
  std::string of_what;
  if (options.times == GraphTimes::Replay && frame.replay != nullptr) of_what = "replay " + count_text(frame.replay->replay.replay) + " alone";
  if (options.legend) legend.draw(drawing, of_what, options.causes);
  draw_graph_minimap(drawing, canvas);
  ImGui::PopID();
}

void GraphPanel::State::act(Frame& frame, const GraphDrawing& drawing, const GraphHit& hit) {
  const model::GraphKey key = scene->graph().key();
  if (canvas.is_clicked()) {
    if (hit.box != trace::kNone) {
      frame.view.select(model::SelectedNode{key, box_time(*scene, frame, hit.box).hottest});
    } else if (hit.link != trace::kNone) {
      frame.view.select(model::SelectedEdge{key, edge_of_link(drawing, hit.link)});
    } else if (hit.area == trace::kNone) {
      frame.view.selection = {};
    }
    revealed = frame.view.selection;
  }
  if (canvas.is_double_clicked()) {
    if (hit.area != trace::kNone) do_wish(frame, {.what = GraphMenuWish::Collapse, .label = scene->areas[hit.area].group + 1});
    if (hit.box != trace::kNone && scene->boxes[hit.box].label != trace::kNone) {
      do_wish(frame, {.what = GraphMenuWish::Expand, .label = scene->boxes[hit.box].label});
    } else if (hit.box != trace::kNone) {
      focus(hit.box);
    }
  }
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Right) && io.MouseDragMaxDistanceSqr[1] < 25) menu.open(hit);
  const bool any_down = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
  if (!hit.is_nothing() && !any_down && !menu.is_open()) draw_tooltip(drawing, hit);
}

void GraphPanel::State::do_wish(Frame& frame, const GraphMenuWish& wish) {
  const model::Graph& graph = scene->graph();
  switch (wish.what) {
    case GraphMenuWish::Nothing: break;
    case GraphMenuWish::Fit: canvas.fit(); break;
    case GraphMenuWish::Focus: focus(wish.box); break;
    case GraphMenuWish::Mark: frame.view.critical_path = !frame.view.critical_path; break;
    case GraphMenuWish::Collapse:
    case GraphMenuWish::Expand:
      if (wish.what == GraphMenuWish::Collapse) {
        options.collapsed.insert(graph.label_path(wish.label));
      } else {
        options.collapsed.erase(graph.label_path(wish.label));
      }
      for (std::uint32_t n = 0; n < graph.node_count() && anchor == trace::kNone; ++n) {
        if (graph.is_below(graph.record().nodes[n].label, wish.label)) anchor = n;
      }
      break;
    case GraphMenuWish::CollapseAll: options.collapsed = outermost_labels(graph); break;
    case GraphMenuWish::ExpandAll: options.collapsed.clear(); break;
  }
}

void GraphPanel::State::draw_tooltip(const GraphDrawing& drawing, const GraphHit& hit) const {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + 420 * drawing.theme().scale);
  if (hit.box != trace::kNone) {
    draw_box_tooltip(drawing, hit.box);
  } else if (hit.link != trace::kNone) {
    draw_link_tooltip(drawing, hit.link);
  } else {
    draw_area_tooltip(drawing, hit.area);
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

// What was selected elsewhere comes into sight, and large enough to be seen; what is in sight stays where it is.
void GraphPanel::State::reveal(const Frame& frame, const GraphDrawing& drawing) {
  const bool asked = frame.view.reveal_selection && (!was_asked_to_reveal || !(revealed == frame.view.selection));
  was_asked_to_reveal = frame.view.reveal_selection;
  if (!asked) return;
  revealed = frame.view.selection;
  const model::Graph& graph = scene->graph();
  Rect all;
  std::uint32_t count = 0, only = trace::kNone;
  const auto add = [&](std::uint32_t box) {
    const Rect& r = scene->boxes[box].rect;
    all = count == 0 ? r : Rect{std::min(all.left, r.left), std::min(all.top, r.top), std::max(all.right, r.right), std::max(all.bottom, r.bottom)};
    only = count++ == 0 || only == box ? box : trace::kNone;
  };
  const std::uint8_t bit = GraphMark::kSelected;
  const GraphMarks now = graph_marks(*scene, frame, options.causes);
  for (std::uint32_t b = 0; b < scene->boxes.size(); ++b) {
    if ((now.boxes[b] & bit) != 0) add(b);
  }
  if (count == 0 || graph.node_count() == 0) return;
  const float height = scene->boxes[only != trace::kNone ? only : 0].rect.height() * drawing.zoom();
  if (contains(canvas.in_sight(), bounds_of(all)) && height >= kLeastBoxHeight * frame.theme.scale) return;
  if (only == trace::kNone) return canvas.show(bounds_of(all));
  if (height < kLeastBoxHeight * frame.theme.scale) return focus(only);
  canvas.centre(static_cast<double>((all.left + all.right) / 2), static_cast<double>((all.top + all.bottom) / 2));
}

// The box in the middle, as large as it is read best.
void GraphPanel::State::focus(std::uint32_t box) {
  const Rect& r = scene->boxes[box].rect;
  const double half_x = static_cast<double>(canvas.max().x - canvas.min().x) / 2.2,
               half_y = static_cast<double>(canvas.max().y - canvas.min().y) / 2.2;
  const double x = static_cast<double>((r.left + r.right) / 2), y = static_cast<double>((r.top + r.bottom) / 2);
  canvas.show({x - half_x, y - half_y, x + half_x, y + half_y});
}

}  // namespace reprise::viewer

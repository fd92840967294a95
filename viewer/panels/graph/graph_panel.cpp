#include "panels/graph/graph_panel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/graph/graph_hit.hpp"
#include "panels/graph/graph_layouts.hpp"
#include "panels/graph/graph_menu.hpp"
#include "panels/graph/graph_overlay.hpp"
#include "panels/graph/graph_svg.hpp"
#include "panels/graph/graph_toolbar.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/shared/keys.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMinBoxHeight = 5;  // screen points; reveal() magnifies smaller boxes
constexpr std::size_t kMaxOpened = 1000;  // nodes of a label that are drawn when it is expanded

CanvasBounds bounds_of(const Rect& r) {
  return {static_cast<double>(r.left), static_cast<double>(r.top), static_cast<double>(r.right),
          static_cast<double>(r.bottom)};
}
bool contains(const CanvasBounds& outer, const CanvasBounds& inner) {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right &&
         outer.bottom >= inner.bottom;
}

}  // namespace

struct GraphPanel::State {
  explicit State(Background& background) : layouts(background) {}

  void draw(PanelContext& context);

 private:
  const GraphViewModel* view_model_to_show(const PanelContext& context);
  void set_scene(std::shared_ptr<const GraphScene> next, const PanelContext& context);
  void update_times(const PanelContext& context);
  void draw_graph(PanelContext& context, float legend_width);
  void handle_mouse(PanelContext& context, const GraphDrawContext& drawing, const GraphHit& hit);
  void perform(PanelContext& context, const GraphMenuAction& action);
  void expand(std::uint32_t box);
  void draw_tooltip(const GraphDrawContext& drawing, const GraphHit& hit) const;
  void reveal(const PanelContext& context, const GraphDrawContext& drawing);
  void focus(std::uint32_t box);

  GraphLayouts layouts;
  GraphOptions options;
  model::GraphKey opened_of;  // options.opened
  std::shared_ptr<const GraphScene> scene;
  Canvas canvas{CanvasAxes::Both};
  GraphMenu menu;
  GraphHighlights highlights;
  struct TimesKey {
    std::shared_ptr<const GraphScene> scene;
    GraphViewModelKey view_model;
    model::SampleStore::Block replay;  // null: the view model is of the range
    ColourBy colour_by = ColourBy::Median;
    friend bool operator==(const TimesKey&, const TimesKey&) = default;
  };
  std::optional<TimesKey> times_of;
  std::vector<GraphBoxTime> times;      // of the boxes of the scene
  std::uint32_t anchor = trace::kNone;  // node that keeps its screen position in the next scene
  model::Selection revealed;
  bool reveal_requested = false;
  // View model of the shown replay, and the graph and samples it was built from.
  GraphViewModel replay_view_model;
  std::pair<std::shared_ptr<const model::Graph>, model::SampleStore::Block> replay_of;
};

GraphPanel::GraphPanel(Background& background) : state_(std::make_unique<State>(background)) {}
GraphPanel::~GraphPanel() = default;
void GraphPanel::draw(PanelContext& context) { state_->draw(context); }

void GraphPanel::State::draw(PanelContext& context) {
  const model::Graph* const graph = context.graph();
  if (graph == nullptr) {
    draw_empty(context.theme, "No graph yet",
               context.is_live ? "A graph appears when the session compiles one."
                               : "The trace contains no graph.");
    return;
  }
  if (graph->node_count() == 0)
    return draw_empty(context.theme, "\"" + graph->name() + "\" has no nodes",
                      "No commands were recorded.");
  if (std::exchange(opened_of, graph->key()) != graph->key()) options.opened.clear();
  const ImVec2 available = ImGui::GetContentRegionAvail();
  const float legend_width = options.legend ? graph_legend_width(context.theme, available.x) : 0;
  std::shared_ptr<const GraphScene> next =
      layouts.request({.graph = context.entry->graph,
                       .direction = options.direction,
                       .collapsed = options.collapsed,
                       .max_boxes = options.max_boxes,
                       .opened = options.opened,
                       .text = TextWidths::of(context.theme.text),
                       .small = TextWidths::of(context.theme.small),
                       .scale = context.theme.scale,
                       .width = std::max(1.0f, available.x - legend_width),
                       .height = std::max(1.0f, available.y - ImGui::GetFrameHeightWithSpacing())});
  if (next != scene && next != nullptr) set_scene(std::move(next), context);

  static const std::vector<std::uint8_t> kNoFilter;
  const bool has_scene = scene != nullptr && scene->key.graph == context.entry->graph;
  PanelContext shown{context.document,
                     context.entry,
                     view_model_to_show(context),
                     context.summary,
                     context.replay,
                     context.matches.size() == graph->node_count() ? context.matches : kNoFilter,
                     context.other,
                     context.name,
                     context.other_name,
                     context.is_live,
                     context.incomplete,
                     context.view,
                     context.theme,
                     context.background};
  const Direction direction =
      options.direction.value_or(has_scene ? scene->key.direction : Direction::Down);
  if (draw_graph_toolbar(shown,
                         {.scene = has_scene ? scene.get() : nullptr,
                          .direction = direction,
                          .is_busy = layouts.is_busy()},
                         options) == GraphToolbarAction::Fit) {
    canvas.fit();
  }
  if (has_scene) return draw_graph(shown, legend_width);
  const std::string error = layouts.error();
  if (!error.empty() && !layouts.is_busy())
    return draw_empty(context.theme, "Graph layout failed", error);
  draw_busy(context.theme, "Laying out " + count_text(graph->node_count()) +
                               (graph->node_count() == 1 ? " node" : " nodes") + "...");
}

// The view model of the selected range or of the shown replay; null if it belongs to another graph.
const GraphViewModel* GraphPanel::State::view_model_to_show(const PanelContext& context) {
  const model::Graph& graph = *context.graph();
  if (options.times == GraphTimes::Replay && context.replay != nullptr &&
      context.replay->times.nodes.size() == graph.node_count()) {
    const std::pair of{context.entry->graph, context.replay->block};
    if (of.second == nullptr || replay_of != of) {
      replay_view_model = view_model_of_replay(graph, *context.replay);
      replay_of = of;
    }
    return &replay_view_model;
  }
  const bool fits = context.view_model != nullptr && context.view_model->key == graph.key() &&
                    context.view_model->nodes.size() == graph.node_count();
  return fits ? context.view_model : nullptr;
}

// Replaces the scene. A new scene of the same graph keeps the view, and the clicked or selected
// node keeps its screen position.
void GraphPanel::State::set_scene(std::shared_ptr<const GraphScene> next,
                                  const PanelContext& context) {
  menu.forget();
  const std::shared_ptr<const GraphScene> before = std::exchange(scene, std::move(next));
  const std::uint32_t held_node = std::exchange(anchor, trace::kNone);
  const bool same_graph = before != nullptr && before->key.graph == scene->key.graph &&
                          before->key.direction == scene->key.direction;
  if (!same_graph || contains(canvas.visible_area(), bounds_of(before->bounds)))
    return canvas.fit();
  const auto* selected = std::get_if<model::SelectedNode>(&context.view.selection);
  const CanvasBounds visible = canvas.visible_area();
  const double x = (visible.left + visible.right) / 2, y = (visible.top + visible.bottom) / 2;
  std::uint32_t node = held_node;
  if (node == trace::kNone && selected != nullptr && selected->graph == scene->graph().key())
    node = selected->node;
  if (node >= scene->box_of.size()) return;
  const Rect was = before->boxes[before->box_of[node]].rect,
             is = scene->boxes[scene->box_of[node]].rect;
  canvas.centre(x + static_cast<double>(is.left - was.left),
                y + static_cast<double>(is.top - was.top));
}

// Computes the times of all boxes, which takes time linear in nodes, after changes only.
void GraphPanel::State::update_times(const PanelContext& context) {
  TimesKey key{scene, graph_view_model_key(context), nullptr, context.view.colour_by};
  if (context.view_model == &replay_view_model) key.replay = replay_of.second;
  if (times_of == key) return;
  times_of = std::move(key);
  times.clear();
  for (std::uint32_t box = 0; box < scene->boxes.size(); ++box)
    times.push_back(box_time(*scene, context, box));
}

void GraphPanel::State::draw_graph(PanelContext& context, float legend_width) {
  ImGui::PushID("picture");
  if (legend_width > 0) {
    std::string title;
    if (options.times == GraphTimes::Replay && context.replay != nullptr)
      title = "replay " + count_text(context.replay->replay.replay) + " only";
    draw_graph_legend(context, *scene, {legend_width, ImGui::GetContentRegionAvail().y}, title,
                      options.causes);
    ImGui::SameLine(0, 0);
  }
  canvas.begin("graph", bounds_of(scene->bounds), context.theme);
  if (std::exchange(context.view.fit, false)) canvas.fit();
  update_times(context);
  const GraphDrawContext drawing{
      *scene, highlights, times, context, canvas, *ImGui::GetWindowDrawList(), options.causes};
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const GraphHit hit = canvas.is_hovered() ? hit_graph(drawing, mouse) : GraphHit{};
  if (canvas.is_hovered()) {
    context.view.hovered = {};
    const model::GraphKey key = scene->graph().key();
    if (hit.box != trace::kNone && scene->boxes[hit.box].node != trace::kNone)
      context.view.hovered = model::SelectedNode{key, scene->boxes[hit.box].node};
    if (hit.link != trace::kNone)
      context.view.hovered = model::SelectedEdge{key, edge_of_link(drawing, hit.link)};
  }
  reveal(context, drawing);
  highlights = make_graph_highlights(*scene, context, options.causes);
  draw_graph_areas(drawing);
  draw_graph_links(drawing);
  std::vector<Rect> names = draw_graph_boxes(drawing);
  draw_graph_links_on_blocks(drawing);
  draw_graph_titles(drawing, std::move(names));
  if (options.frame_rate) draw_frame_rate(drawing);
  canvas.end();
  if (canvas.is_hovered()) handle_mouse(context, drawing, hit);
  perform(context, menu.draw(context, *scene, options));
  if (std::exchange(context.view.graph_svg, false))
    context.view.save = FileToSave{"graph.svg", graph_svg(*scene, context, options.causes)};
  draw_graph_minimap(drawing, canvas);
  ImGui::PopID();
}

void GraphPanel::State::handle_mouse(PanelContext& context, const GraphDrawContext& drawing,
                                     const GraphHit& hit) {
  const model::GraphKey key = scene->graph().key();
  if (canvas.is_clicked()) {
    if (hit.box != trace::kNone) {
      context.view.select(model::SelectedNode{key, drawing.times[hit.box].hottest});
    } else if (hit.link != trace::kNone) {
      context.view.select(model::SelectedEdge{key, edge_of_link(drawing, hit.link)});
    } else if (hit.area == trace::kNone) {
      context.view.selection = {};
    }
    revealed = context.view.selection;
  }
  if (canvas.is_double_clicked()) {
    if (hit.area != trace::kNone)
      perform(context,
              {.kind = GraphMenuAction::Collapse, .label = scene->areas[hit.area].group + 1});
    if (hit.box != trace::kNone && scene->boxes[hit.box].is_group()) {
      perform(context, {.kind = GraphMenuAction::Expand, .box = hit.box});
    } else if (hit.box != trace::kNone) {
      focus(hit.box);
    }
  }
  const ImGuiIO& io = ImGui::GetIO();
  if (is_menu_click()) menu.open(hit);
  const bool any_down = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
  if (!hit.is_nothing() && !any_down && !menu.is_open()) draw_tooltip(drawing, hit);
}

void GraphPanel::State::perform(PanelContext& context, const GraphMenuAction& action) {
  const model::Graph& graph = scene->graph();
  switch (action.kind) {
    case GraphMenuAction::Nothing: break;
    case GraphMenuAction::Fit: canvas.fit(); break;
    case GraphMenuAction::Focus: focus(action.box); break;
    case GraphMenuAction::ToggleCriticalPath:
      context.view.critical_path = !context.view.critical_path;
      break;
    case GraphMenuAction::Collapse:
      if (!options.collapsed) options.collapsed = scene->collapsed;
      options.collapsed->insert(graph.label_path(action.label));
      for (std::uint32_t n = 0; n < graph.node_count() && anchor == trace::kNone; ++n) {
        if (graph.is_below(graph.record().nodes[n].label, action.label)) anchor = n;
      }
      break;
    case GraphMenuAction::Expand: expand(action.box); break;
    case GraphMenuAction::CollapseAll: collapse_all(graph, options); break;
    case GraphMenuAction::ExpandAll: expand_all(options); break;
    case GraphMenuAction::ToggleFrameRate: options.frame_rate = !options.frame_rate; break;
    case GraphMenuAction::SaveSvg: context.view.graph_svg = true; break;
  }
}

// Opens a group. A label of too many nodes shows its inner labels.
void GraphPanel::State::expand(std::uint32_t box) {
  const model::Graph& graph = scene->graph();
  const std::uint32_t label = scene->boxes[box].label;
  anchor = scene->members_of(box).front();
  if (label == trace::kNone) {
    options.opened.insert(anchor);
    return;
  }
  if (!options.collapsed) options.collapsed = scene->collapsed;
  options.collapsed->erase(graph.label_path(label));
  if (scene->members_of(box).size() <= kMaxOpened) return;
  for (const std::uint32_t inner : graph.child_labels(label))
    options.collapsed->insert(graph.label_path(inner));
}

void GraphPanel::State::draw_tooltip(const GraphDrawContext& drawing, const GraphHit& hit) const {
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

// Scrolls to a selection made in another panel and magnifies it if it is too small. The view stays
// unchanged if the selection is already visible.
void GraphPanel::State::reveal(const PanelContext& context, const GraphDrawContext& drawing) {
  const bool requested =
      context.view.reveal_selection && (!reveal_requested || !(revealed == context.view.selection));
  reveal_requested = context.view.reveal_selection;
  if (!requested) return;
  revealed = context.view.selection;
  const model::Graph& graph = scene->graph();
  Rect all;
  std::uint32_t count = 0, only = trace::kNone;
  const auto add = [&](std::uint32_t box) {
    const Rect& r = scene->boxes[box].rect;
    all = count == 0 ? r
                     : Rect{std::min(all.left, r.left), std::min(all.top, r.top),
                            std::max(all.right, r.right), std::max(all.bottom, r.bottom)};
    only = count++ == 0 || only == box ? box : trace::kNone;
  };
  const std::uint8_t bit = HighlightBit::kSelected;
  const GraphHighlights highlighted = make_graph_highlights(*scene, context, options.causes);
  for (std::uint32_t b = 0; b < scene->boxes.size(); ++b) {
    if ((highlighted.boxes[b] & bit) != 0) add(b);
  }
  if (count == 0 || graph.node_count() == 0) return;
  const float height = scene->boxes[only != trace::kNone ? only : 0].rect.height() * drawing.zoom();
  if (contains(canvas.visible_area(), bounds_of(all)) &&
      height >= kMinBoxHeight * context.theme.scale)
    return;
  if (only == trace::kNone) return canvas.show(bounds_of(all));
  if (height < kMinBoxHeight * context.theme.scale) return focus(only);
  canvas.centre(static_cast<double>((all.left + all.right) / 2),
                static_cast<double>((all.top + all.bottom) / 2));
}

// Centres the box at a readable zoom.
void GraphPanel::State::focus(std::uint32_t box) {
  const Rect& r = scene->boxes[box].rect;
  const double half_x = static_cast<double>(canvas.max().x - canvas.min().x) / 2.2,
               half_y = static_cast<double>(canvas.max().y - canvas.min().y) / 2.2;
  const double x = static_cast<double>((r.left + r.right) / 2),
               y = static_cast<double>((r.top + r.bottom) / 2);
  canvas.show({x - half_x, y - half_y, x + half_x, y + half_y});
}

}  // namespace reprise::viewer

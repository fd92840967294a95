#include "panels/timeline/timeline_panel.hpp"

#include <algorithm>
#include <cmath>

#include "panels/shared/keys.hpp"
#include "panels/timeline/timeline_data.hpp"
#include "panels/timeline/timeline_draw_context.hpp"
#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/timeline/timeline_labels.hpp"
#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/timeline/timeline_reasons.hpp"
#include "panels/timeline/timeline_ruler.hpp"
#include "panels/timeline/timeline_toolbar.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

constexpr double kMaxScroll = 20;  // scroll limit before and after the replay, in replay durations
constexpr std::size_t kMaxAdjacent = 24;  // adjacent replays whose nodes are drawn
constexpr double kMinAdjacentWidth = 40;  // screen points

// The known time span of a replay, never empty.
struct TimeSpan {
  Time started = 0, ended = 0;
};

TimeSpan time_span_of(const trace::Replay& replay, const TimelineScene* scene) {
  TimeSpan s{replay.started, replay.ended};
  if (scene != nullptr && scene->times.started != 0) {
    s.started = s.started == 0 ? scene->times.started : std::min(s.started, scene->times.started);
    s.ended = std::max(s.ended, scene->times.ended);
  }
  if (s.started == 0) s = {replay.launched, replay.launch_returned};
  s.ended = std::max(s.ended, s.started + 1000);
  return s;
}

}  // namespace

struct TimelinePanel::State {
  explicit State(Background& background) : data(background) {}

  void draw(PanelContext& context);
  void draw_rows(PanelContext& context, const trace::Replay& replay, const TimelineScene* scene);
  void draw_colours(const PanelContext& context, float names_end, float left);
  void fit(const trace::Replay& replay, const TimeSpan& time_span);
  void find_visible_replays(PanelContext& context, Time origin);
  void reveal(const PanelContext& context, const TimelineScene& scene,
              const TimelineLayout& layout);
  void handle_mouse(PanelContext& context, TimelineDrawContext& dc, const TimeSpan& time_span,
                    const trace::Replay& replay);

  TimelineData data;
  TimelineOptions options;
  Canvas canvas{CanvasAxes::Horizontal};
  TimelineRuler ruler;
  std::shared_ptr<const model::Graph> graph;  // the last drawn graph
  std::uint64_t drawn = 0;                    // number of the last drawn replay
  bool is_fitted = false;                     // the view has not been moved since fit()
  bool fit_requested = false;                 // the canvas moves in the next frame
  ImVec2 size{0, 0};
  float scroll = 0;  // vertical scroll offset, screen points
  std::vector<VisibleReplays> visible_replays;
};

TimelinePanel::TimelinePanel(Background& background)
    : state_(std::make_unique<State>(background)) {}
TimelinePanel::~TimelinePanel() = default;
void TimelinePanel::draw(PanelContext& context) { state_->draw(context); }

void TimelinePanel::State::draw(PanelContext& context) {
  if (context.entry == nullptr || context.entry->replays.empty()) {
    const TimelineReason reason = missing_nodes_reason(context);
    draw_empty(context.theme, reason.title, reason.hint);
    return;
  }
  if (graph != context.entry->graph) {
    graph = context.entry->graph;
    is_fitted = false;
    drawn = 0;
    ruler.clear();
    visible_replays.clear();
  }
  if (!options.is_by_chosen)
    options.by = graph->record().lanes > 1 ? model::RowsBy::Lane : model::RowsBy::Worker;
  data.request(context, options.by);
  const TimelineData::Scene scene = data.shown();
  const TimelineAction action = draw_timeline_toolbar(context, scene.get(), options);
  if (action.newest) context.view.replay.reset();
  if (action.go) data.choose(context, *action.go);
  if (const auto chosen = data.take_choice()) context.view.replay = *chosen;
  if (context.replay == nullptr) {
    const TimelineReason reason = missing_nodes_reason(context);
    if (reason.is_busy) return draw_busy(context.theme, reason.title);
    return draw_empty(context.theme, reason.title, reason.hint);
  }
  draw_rows(context, scene ? scene->replay : context.replay->replay, scene.get());
}

// Shows the replay, and its launch call if that is close to the start.
void TimelinePanel::State::fit(const trace::Replay& replay, const TimeSpan& time_span) {
  const auto length = static_cast<double>(time_span.ended - time_span.started);
  double left = 0;
  if (replay.launched != 0 && replay.launched < time_span.started) {
    if (const auto before = static_cast<double>(time_span.started - replay.launched);
        before < 0.35 * length)
      left = -before;
  }
  canvas.show({left, 0, length, 1});
  is_fitted = fit_requested = true;
}

// Finds the visible replays and requests the nodes of those that are wide enough.
void TimelinePanel::State::find_visible_replays(PanelContext& context, Time origin) {
  const CanvasBounds visible = canvas.visible_area();
  const Time from = origin + static_cast<Time>(visible.left),
             to = origin + static_cast<Time>(visible.right);
  visible_replays.clear();
  std::vector<trace::Replay> adjacent;
  for (const auto& [key, entry] : context.document->graphs) {
    const auto [first, end] = replays_between(entry.replays, from, to);
    if (first == end) continue;
    visible_replays.push_back({key, entry.replays, first, end});
    if (entry.graph != graph) continue;
    for (std::size_t i = first; i < end; ++i) {
      const trace::Replay& r = entry.replays[i];
      const bool is_wide =
          r.started != 0 &&
          static_cast<double>(r.ended - r.started) * canvas.zoom_x() >= kMinAdjacentWidth;
      if (r.sampled != 0 && r.replay != drawn && is_wide && r.ended >= from && r.started <= to)
        adjacent.push_back(r);
    }
  }
  if (adjacent.size() > kMaxAdjacent) adjacent.clear();
  data.request_adjacent(context, options.by, std::move(adjacent));
}

void TimelinePanel::State::draw_rows(PanelContext& context, const trace::Replay& replay,
                                     const TimelineScene* scene) {
  const Theme& theme = context.theme;
  const TimeSpan time_span = time_span_of(replay, scene);
  const auto length = static_cast<double>(time_span.ended - time_span.started);
  const ImVec2 at = ImGui::GetCursorScreenPos(), available = ImGui::GetContentRegionAvail();
  const float labels = std::min(132 * theme.scale, available.x * 0.3f), bar = 10 * theme.scale,
              ruler_height = 20 * theme.scale;
  const ImVec2 area{std::max(available.x - labels - bar, 24.0f), std::max(available.y, 40.0f)};

  if (drawn == 0 || (drawn != replay.replay && is_fitted)) fit(replay, time_span);
  drawn = replay.replay;
  ImGui::SetCursorScreenPos({at.x + labels, at.y});
  const bool moved = canvas.begin(
      "timeline", {-kMaxScroll * length, 0, (kMaxScroll + 1) * length, 1}, theme, area);
  const bool resized = area.x != size.x || area.y != size.y;
  if (moved && !resized && !fit_requested) is_fitted = false;
  fit_requested = false;
  size = area;
  if ((resized && is_fitted) || (canvas.is_hovered() && is_pressed(Key::Home)))
    fit(replay, time_span);
  if (canvas.is_hovered() && ImGui::IsMouseDragging(ImGuiMouseButton_Right, 1))
    scroll -= ImGui::GetIO().MouseDelta.y;
  ruler.update(canvas);
  find_visible_replays(context, time_span.started);

  const auto adjacent = data.adjacent();
  const auto host = data.host();
  TimelineLayoutDesc desc{
      .context = context, .shown = scene, .adjacent = adjacent.get(), .host = host.get()};
  desc.threads.insert(replay.thread);
  for (const VisibleReplays& r : visible_replays) {
    desc.graphs.insert(r.graph);
    for (std::size_t i = r.first; i < std::min(r.end, r.first + 256); ++i)
      desc.threads.insert(r.replays[i].thread);
  }
  desc.by = options.by;
  desc.available_height = area.y - ruler_height;
  const TimelineLayout layout = make_timeline_layout(desc);
  scroll = std::clamp(scroll, 0.0f, std::max(layout.height - desc.available_height, 0.0f));
  if (scene != nullptr && context.view.reveal_selection) reveal(context, *scene, layout);

  const float rows_top = canvas.min().y + ruler_height;
  TimelineDrawContext dc{.context = context,
                         .canvas = canvas,
                         .layout = layout,
                         .options = options,
                         .origin = time_span.started,
                         .top = rows_top - scroll,
                         .rows_top = rows_top};
  const TimelineRulerDesc axis{
      .theme = theme, .canvas = canvas, .height = ruler_height, .replay = std::pair(0.0, length)};
  ruler.draw_lines(axis);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({canvas.min().x, rows_top}, canvas.max(), true);
  for (const TimelineRow& row : layout.rows) {
    const float y = dc.top + row.top;
    if (row.kind == TimelineRow::Kind::Title) {
      list.AddLine({canvas.min().x, y + row.height - 2}, {canvas.max().x, y + row.height - 2},
                   theme.line);
      const float line = theme.small->FontSize;
      list.AddText(theme.small, line,
                   {canvas.min().x + theme.half_space, std::floor(y + (row.height - line) / 2)},
                   theme.ink_faint, row.detail.c_str());
    } else if (row.kind == TimelineRow::Kind::Nodes) {
      list.AddRectFilled({canvas.min().x, y}, {canvas.max().x, y + row.height},
                         with_alpha(theme.ink, 0.03f));
    }
  }
  draw_timeline_ranges(dc, *host);
  draw_timeline_replays(dc, visible_replays, replay.replay);
  for (const auto& [number, other] : *adjacent) {
    if (number != replay.replay) draw_timeline_nodes(dc, *other);
  }
  if (scene != nullptr) {
    draw_timeline_gaps(dc, *scene);
    draw_timeline_nodes(dc, *scene);
    const bool path_matches = context.replay->replay.replay == scene->replay.replay;
    if (context.view.critical_path && path_matches)
      draw_timeline_path(dc, *scene, context.replay->path);
    draw_timeline_links(dc, *scene);
    draw_timeline_labels_of(dc, *scene);
  }
  list.PopClipRect();
  ruler.draw(axis);
  handle_mouse(context, dc, time_span, replay);
  canvas.end();

  draw_timeline_labels(theme, layout, dc.top, {at.x, rows_top}, {at.x + labels, canvas.max().y});
  const char* const axis_title = "from start";
  list.AddText(
      theme.small, theme.small->FontSize,
      {at.x + theme.half_space, canvas.min().y + (ruler_height - theme.small->FontSize) / 2},
      theme.ink_soft, axis_title);
  scroll = draw_timeline_scrollbar(theme, scroll, layout.height, desc.available_height,
                                   {canvas.max().x + 1, rows_top});
  if (scene != nullptr) {
    const auto last =
        std::find_if(layout.rows.rbegin(), layout.rows.rend(),
                     [](const TimelineRow& r) { return r.kind == TimelineRow::Kind::Nodes; });
    const float names =
        last == layout.rows.rend() ? 0 : last->top + last->height + 22 * theme.scale;
    return draw_colours(context, dc.top + names, at.x);
  }
  const float rows_end = std::min(rows_top + layout.height, canvas.max().y);
  const TimelineReason reason = missing_nodes_reason(context);
  const float top = std::min(rows_end, canvas.max().y - 4 * theme.row);
  ImGui::SetCursorScreenPos({canvas.min().x, top});
  ImGui::BeginChild("reason", {area.x, canvas.max().y - top}, false, ImGuiWindowFlags_NoInputs);
  reason.is_busy ? draw_busy(theme, reason.title) : draw_empty(theme, reason.title, reason.hint);
  ImGui::EndChild();
}

// Draws the colour legend: below the row names if there is space, otherwise at the lower right.
void TimelinePanel::State::draw_colours(const PanelContext& context, float names_end, float left) {
  const Theme& theme = context.theme;
  const float pad = theme.space, column = canvas.min().x - left - 2 * pad,
              width = std::min(150 * theme.scale, column);
  const ColourBy by = context.view.colour_by;
  const bool is_heat = by == ColourBy::Median || by == ColourBy::P99 || by == ColourBy::Share ||
                       by == ColourBy::Slack;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({left, canvas.min().y}, canvas.max(), true);
  // Draw once outside the clip rectangle to measure the height.
  const float height = draw_colour_legend(context, {canvas.max().x + 1e5f, canvas.min().y}, width);
  if (is_heat && names_end < canvas.max().y - height - 2 * pad) {
    draw_colour_legend(context, {left + pad, canvas.max().y - height - pad}, width);
  } else if (canvas.max().y - canvas.min().y >
             2.5f * height) {  // covers rows: only if most remain visible
    const ImVec2 min{canvas.max().x - width - 3 * pad,
                     std::max(canvas.max().y - height - 3 * pad, canvas.min().y)};
    const ImVec2 max{min.x + width + 2 * pad, min.y + height + 1.5f * pad};
    list.AddRectFilled(min, max, with_alpha(theme.raised, 0.95f), theme.radius);
    list.AddRect(min, max, theme.line, theme.radius);
    draw_colour_legend(context, {min.x + pad, min.y + pad}, width);
  }
  list.PopClipRect();
}

void TimelinePanel::State::reveal(const PanelContext& context, const TimelineScene& scene,
                                  const TimelineLayout& layout) {
  const auto* const node = std::get_if<model::SelectedNode>(&context.view.selection);
  if (node == nullptr || node->graph != graph->key() || node->node >= scene.items_of.size() ||
      scene.items_of[node->node] == trace::kNone)
    return;
  const model::TimelineItem& item = scene.rows.items[scene.items_of[node->node]];
  const Time origin = time_span_of(scene.replay, &scene).started;
  const auto started = static_cast<double>(item.started - origin),
             ended = static_cast<double>(item.ended - origin);
  const CanvasBounds visible = canvas.visible_area();
  if (ended < visible.left || started > visible.right) {
    canvas.centre((started + ended) / 2, 0);
    is_fitted = false;
  }
  const model::TimelineRow& of = scene.rows.rows[item.row];
  const TimelineRow* const row = layout.find(TimelineRow::Kind::Nodes, of.group, of.level);
  const float height = size.y - 20 * context.theme.scale;
  if (row != nullptr && (row->top < scroll || row->top + row->height > scroll + height)) {
    scroll = std::clamp(row->top - height / 2, 0.0f, std::max(layout.height - height, 0.0f));
  }
}

void TimelinePanel::State::handle_mouse(PanelContext& context, TimelineDrawContext& dc,
                                        const TimeSpan& time_span, const trace::Replay& replay) {
  if (!canvas.is_hovered() || ruler.is_measuring()) return;
  if (ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseDown(ImGuiMouseButton_Middle))
    return;
  const auto show = [&](Time started, Time ended) {
    const double left = dc.plane_of(started), right = dc.plane_of(ended),
                 margin = std::max((right - left) * 0.3, 20.0);
    canvas.show({left - margin, 0, right + margin, 1});
    is_fitted = false;
    fit_requested = true;
  };
  const bool clicked = canvas.is_clicked() && !ImGui::GetIO().KeyShift,
             double_clicked = canvas.is_double_clicked();
  if (const auto* const node = std::get_if<NodeHit>(&dc.hit)) {
    const model::SelectedNode selected{graph->key(), node->item->node};
    context.view.hovered = selected;
    if (clicked) context.view.select(selected);
    if (double_clicked) show(node->item->started, node->item->ended);
  } else if (const auto* const gap = std::get_if<GapHit>(&dc.hit)) {
    context.view.hovered = model::SelectedNode{graph->key(), gap->gap->node};
    if (clicked) context.view.select(model::SelectedNode{graph->key(), gap->gap->node});
    if (double_clicked) show(gap->gap->started, gap->gap->ended);
  } else if (const auto* const of = std::get_if<ReplayHit>(&dc.hit)) {
    const model::SelectedReplay selected{of->graph, of->replay.replay};
    context.view.hovered = selected;
    if (clicked && of->count == 1) {
      context.view.graph = of->graph;
      context.view.replay = of->replay.replay;
      context.view.select(selected);
    }
    if (double_clicked && of->replay.started != 0) show(of->replay.started, of->replay.ended);
  } else if (const auto* const range = std::get_if<RangeHit>(&dc.hit)) {
    if (double_clicked) show(range->range.started, range->range.ended);
  } else if (const auto* const label = std::get_if<LabelHit>(&dc.hit)) {
    if (double_clicked) show(label->label.started, label->label.ended);
  } else {
    if (clicked) context.view.selection = {};
    if (double_clicked) fit(replay, time_span);
  }
  draw_timeline_tooltip(dc);
}

}  // namespace reprise::viewer

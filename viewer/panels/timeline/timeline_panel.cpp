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
#include "panels/timeline/timeline_tooltips.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

constexpr double kFarthest =
    20;  // how many times its length one may look before and after the shown replay
constexpr std::size_t kMostBeside = 24;  // replays whose nodes are drawn beside the shown one's
constexpr double kLeastBeside = 40;      // points that such a replay is wide at least

// What of a replay is known to have happened when.
struct Stretch {
  Time began = 0, ended = 0;
};

Stretch stretch_of(const trace::Replay& replay, const TimelineScene* scene) {
  Stretch s{replay.started, replay.ended};
  if (scene != nullptr && scene->times.began != 0) {
    s.began = s.began == 0 ? scene->times.began : std::min(s.began, scene->times.began);
    s.ended = std::max(s.ended, scene->times.ended);
  }
  if (s.began == 0) s = {replay.launched, replay.launch_returned};
  s.ended = std::max(s.ended, s.began + 1000);
  return s;
}

}  // namespace

struct TimelinePanel::State {
  explicit State(Background& background) : data(background) {}

  void draw(PanelContext& context);
  void draw_rows(PanelContext& context, const trace::Replay& replay, const TimelineScene* scene);
  void draw_colours(const PanelContext& context, float names_end, float left);
  void fit(const trace::Replay& replay, const Stretch& stretch);
  void look_around(PanelContext& context, Time origin);
  void reveal(const PanelContext& context, const TimelineScene& scene,
              const TimelineLayout& layout);
  void take_mouse(PanelContext& context, TimelineDrawContext& sight, const Stretch& stretch,
                  const trace::Replay& replay);

  TimelineData data;
  TimelineOptions options;
  Canvas canvas{CanvasAxes::Horizontal};
  TimelineRuler ruler;
  std::shared_ptr<const model::Graph> graph;  // that was drawn last
  std::uint64_t drawn = 0;                    // replay
  bool is_fitted = false;                     // nobody has moved the picture since
  bool has_asked_to_fit = false;              // in this frame, for the next
  ImVec2 size{0, 0};
  float scroll = 0;  // how far rows are moved up
  std::vector<ReplaysInSight> around;
};

TimelinePanel::TimelinePanel(Background& background)
    : state_(std::make_unique<State>(background)) {}
TimelinePanel::~TimelinePanel() = default;
void TimelinePanel::draw(PanelContext& context) { state_->draw(context); }

void TimelinePanel::State::draw(PanelContext& context) {
  if (context.entry == nullptr || context.entry->replays.empty()) {
    const TimelineReason reason = why_no_nodes(context);
    draw_empty(context.theme, reason.what, reason.hint);
    return;
  }
  if (graph != context.entry->graph) {
    graph = context.entry->graph;
    is_fitted = false;
    drawn = 0;
    ruler.clear();
    around.clear();
  }
  if (!options.is_by_chosen)
    options.by = graph->record().lanes > 1 ? model::RowsBy::Lane : model::RowsBy::Worker;
  data.ask(context, options.by);
  const TimelineData::Scene scene = data.shown();
  const TimelineAction action = draw_timeline_toolbar(context, scene.get(), options);
  if (action.newest) context.view.replay.reset();
  if (action.go) data.choose(context, *action.go);
  if (const auto chosen = data.take_choice()) context.view.replay = *chosen;
  if (context.replay == nullptr) {
    const TimelineReason reason = why_no_nodes(context);
    if (reason.is_busy) return draw_busy(context.theme, reason.what);
    return draw_empty(context.theme, reason.what, reason.hint);
  }
  draw_rows(context, scene ? scene->replay : context.replay->replay, scene.get());
}

// The replay, and its call of launch where that is near.
void TimelinePanel::State::fit(const trace::Replay& replay, const Stretch& stretch) {
  const auto length = static_cast<double>(stretch.ended - stretch.began);
  double left = 0;
  if (replay.launched != 0 && replay.launched < stretch.began) {
    if (const auto before = static_cast<double>(stretch.began - replay.launched);
        before < 0.35 * length)
      left = -before;
  }
  canvas.show({left, 0, length, 1});
  is_fitted = has_asked_to_fit = true;
}

// Which replays are in sight, and which of them are wide enough to show their nodes.
void TimelinePanel::State::look_around(PanelContext& context, Time origin) {
  const CanvasBounds sight = canvas.in_sight();
  const Time from = origin + static_cast<Time>(sight.left),
             to = origin + static_cast<Time>(sight.right);
  around.clear();
  std::vector<trace::Replay> beside;
  for (const auto& [key, entry] : context.document->graphs) {
    const auto [first, end] = replays_between(entry.replays, from, to);
    if (first == end) continue;
    around.push_back({key, entry.replays, first, end});
    if (entry.graph != graph) continue;
    for (std::size_t i = first; i < end; ++i) {
      const trace::Replay& r = entry.replays[i];
      const bool is_wide =
          r.started != 0 &&
          static_cast<double>(r.ended - r.started) * canvas.zoom_x() >= kLeastBeside;
      if (r.sampled != 0 && r.replay != drawn && is_wide && r.ended >= from && r.started <= to)
        beside.push_back(r);
    }
  }
  if (beside.size() > kMostBeside) beside.clear();
  data.ask_beside(context, options.by, std::move(beside));
}

void TimelinePanel::State::draw_rows(PanelContext& context, const trace::Replay& replay,
                                     const TimelineScene* scene) {
  const Theme& theme = context.theme;
  const Stretch stretch = stretch_of(replay, scene);
  const auto length = static_cast<double>(stretch.ended - stretch.began);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float labels = std::min(132 * theme.scale, room.x * 0.3f), bar = 10 * theme.scale,
              ruler_height = 20 * theme.scale;
  const ImVec2 area{std::max(room.x - labels - bar, 24.0f), std::max(room.y, 40.0f)};

  if (drawn == 0 || (drawn != replay.replay && is_fitted)) fit(replay, stretch);
  drawn = replay.replay;
  ImGui::SetCursorScreenPos({at.x + labels, at.y});
  const bool has_moved =
      canvas.begin("timeline", {-kFarthest * length, 0, (kFarthest + 1) * length, 1}, theme, area);
  const bool is_resized = area.x != size.x || area.y != size.y;
  if (has_moved && !is_resized && !has_asked_to_fit) is_fitted = false;
  has_asked_to_fit = false;
  size = area;
  if ((is_resized && is_fitted) || (canvas.is_hovered() && is_pressed(Key::Home)))
    fit(replay, stretch);
  if (canvas.is_hovered() && ImGui::IsMouseDragging(ImGuiMouseButton_Right, 1))
    scroll -= ImGui::GetIO().MouseDelta.y;
  ruler.update(canvas);
  look_around(context, stretch.began);

  const auto beside = data.beside();
  const auto host = data.host();
  TimelineLayoutDesc desc{
      .context = context, .shown = scene, .beside = beside.get(), .host = host.get()};
  desc.threads.insert(replay.thread);
  for (const ReplaysInSight& r : around) {
    desc.graphs.insert(r.graph);
    for (std::size_t i = r.first; i < std::min(r.end, r.first + 256); ++i)
      desc.threads.insert(r.replays[i].thread);
  }
  desc.by = options.by;
  desc.room = area.y - ruler_height;
  const TimelineLayout layout = make_timeline_layout(desc);
  scroll = std::clamp(scroll, 0.0f, std::max(layout.height - desc.room, 0.0f));
  if (scene != nullptr && context.view.reveal_selection) reveal(context, *scene, layout);

  const float rows_top = canvas.min().y + ruler_height;
  TimelineDrawContext sight{.context = context,
                            .canvas = canvas,
                            .layout = layout,
                            .options = options,
                            .origin = stretch.began,
                            .top = rows_top - scroll,
                            .rows_top = rows_top};
  const TimelineRulerDesc axis{
      .theme = theme, .canvas = canvas, .height = ruler_height, .replay = std::pair(0.0, length)};
  ruler.draw_lines(axis);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({canvas.min().x, rows_top}, canvas.max(), true);
  for (const TimelineRow& row : layout.rows) {
    const float y = sight.top + row.top;
    if (row.of == TimelineRow::Of::Title) {
      list.AddLine({canvas.min().x, y + row.height - 2}, {canvas.max().x, y + row.height - 2},
                   theme.line);
      const float line = theme.small->FontSize;
      list.AddText(theme.small, line,
                   {canvas.min().x + theme.half_space, std::floor(y + (row.height - line) / 2)},
                   theme.ink_faint, row.detail.c_str());
    } else if (row.of == TimelineRow::Of::Nodes) {
      list.AddRectFilled({canvas.min().x, y}, {canvas.max().x, y + row.height},
                         with_alpha(theme.ink, 0.03f));
    }
  }
  draw_timeline_ranges(sight, *host);
  draw_timeline_replays(sight, around, replay.replay);
  for (const auto& [number, other] : *beside) {
    if (number != replay.replay) draw_timeline_nodes(sight, *other);
  }
  if (scene != nullptr) {
    draw_timeline_gaps(sight, *scene);
    draw_timeline_nodes(sight, *scene);
    const bool is_path_of_it = context.replay->replay.replay == scene->replay.replay;
    if (context.view.critical_path && is_path_of_it)
      draw_timeline_path(sight, *scene, context.replay->path);
    draw_timeline_links(sight, *scene);
    draw_timeline_labels_of(sight, *scene);
  }
  list.PopClipRect();
  ruler.draw(axis);
  take_mouse(context, sight, stretch, replay);
  canvas.end();

  draw_timeline_labels(theme, layout, sight.top, {at.x, rows_top}, {at.x + labels, canvas.max().y});
  const char* const from_begin = "from the begin";
  list.AddText(
      theme.small, theme.small->FontSize,
      {at.x + theme.half_space, canvas.min().y + (ruler_height - theme.small->FontSize) / 2},
      theme.ink_soft, from_begin);
  scroll = draw_timeline_scrollbar(theme, scroll, layout.height, desc.room,
                                   {canvas.max().x + 1, rows_top});
  if (scene != nullptr) {
    const auto last =
        std::find_if(layout.rows.rbegin(), layout.rows.rend(),
                     [](const TimelineRow& r) { return r.of == TimelineRow::Of::Nodes; });
    const float names =
        last == layout.rows.rend() ? 0 : last->top + last->height + 22 * theme.scale;
    return draw_colours(context, sight.top + names, at.x);
  }
  const float rows_end = std::min(rows_top + layout.height, canvas.max().y);
  const TimelineReason reason = why_no_nodes(context);
  const float top = std::min(rows_end, canvas.max().y - 4 * theme.row);
  ImGui::SetCursorScreenPos({canvas.min().x, top});
  ImGui::BeginChild("reason", {area.x, canvas.max().y - top}, false, ImGuiWindowFlags_NoInputs);
  reason.is_busy ? draw_busy(theme, reason.what) : draw_empty(theme, reason.what, reason.hint);
  ImGui::EndChild();
}

// What nodes are coloured by: below the names of rows where there are none, otherwise at the lower
// right.
void TimelinePanel::State::draw_colours(const PanelContext& context, float names_end, float left) {
  const Theme& theme = context.theme;
  const float pad = theme.space, column = canvas.min().x - left - 2 * pad,
              width = std::min(150 * theme.scale, column);
  const ColourBy by = context.view.colour_by;
  const bool is_heat = by == ColourBy::Median || by == ColourBy::P99 || by == ColourBy::Share ||
                       by == ColourBy::Slack;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({left, canvas.min().y}, canvas.max(), true);
  // Once out of sight, to know how high it is.
  const float height = draw_colour_legend(context, {canvas.max().x + 1e5f, canvas.min().y}, width);
  if (is_heat && names_end < canvas.max().y - height - 2 * pad) {
    draw_colour_legend(context, {left + pad, canvas.max().y - height - pad}, width);
  } else if (canvas.max().y - canvas.min().y >
             2.5f * height) {  // it hides rows: not where it would hide most of them
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
  const Time origin = stretch_of(scene.replay, &scene).began;
  const auto began = static_cast<double>(item.started - origin),
             ended = static_cast<double>(item.ended - origin);
  const CanvasBounds sight = canvas.in_sight();
  if (ended < sight.left || began > sight.right) {
    canvas.centre((began + ended) / 2, 0);
    is_fitted = false;
  }
  const model::TimelineRow& of = scene.rows.rows[item.row];
  const TimelineRow* const row = layout.find(TimelineRow::Of::Nodes, of.group, of.level);
  const float room = size.y - 20 * context.theme.scale;
  if (row != nullptr && (row->top < scroll || row->top + row->height > scroll + room)) {
    scroll = std::clamp(row->top - room / 2, 0.0f, std::max(layout.height - room, 0.0f));
  }
}

void TimelinePanel::State::take_mouse(PanelContext& context, TimelineDrawContext& sight,
                                      const Stretch& stretch, const trace::Replay& replay) {
  if (!canvas.is_hovered() || ruler.is_measuring()) return;
  if (ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseDown(ImGuiMouseButton_Middle))
    return;
  const auto show = [&](Time began, Time ended) {
    const double left = sight.plane_of(began), right = sight.plane_of(ended),
                 around_it = std::max((right - left) * 0.3, 20.0);
    canvas.show({left - around_it, 0, right + around_it, 1});
    is_fitted = false;
    has_asked_to_fit = true;
  };
  const bool clicked = canvas.is_clicked() && !ImGui::GetIO().KeyShift,
             twice = canvas.is_double_clicked();
  if (const auto* const node = std::get_if<NodeHit>(&sight.hit)) {
    const model::SelectedNode selected{graph->key(), node->item->node};
    context.view.hovered = selected;
    if (clicked) context.view.select(selected);
    if (twice) show(node->item->started, node->item->ended);
  } else if (const auto* const gap = std::get_if<GapHit>(&sight.hit)) {
    context.view.hovered = model::SelectedNode{graph->key(), gap->gap->node};
    if (clicked) context.view.select(model::SelectedNode{graph->key(), gap->gap->node});
    if (twice) show(gap->gap->began, gap->gap->ended);
  } else if (const auto* const of = std::get_if<ReplayHit>(&sight.hit)) {
    const model::SelectedReplay selected{of->graph, of->replay.replay};
    context.view.hovered = selected;
    if (clicked && of->count == 1) {
      context.view.graph = of->graph;
      context.view.replay = of->replay.replay;
      context.view.select(selected);
    }
    if (twice && of->replay.started != 0) show(of->replay.started, of->replay.ended);
  } else if (const auto* const range = std::get_if<RangeHit>(&sight.hit)) {
    if (twice) show(range->range.started, range->range.ended);
  } else if (const auto* const label = std::get_if<LabelHit>(&sight.hit)) {
    if (twice) show(label->label.began, label->label.ended);
  } else {
    if (clicked) context.view.selection = {};
    if (twice) fit(replay, stretch);
  }
  draw_timeline_tooltip(sight);
}

}  // namespace reprise::viewer

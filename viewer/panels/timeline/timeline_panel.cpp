#include "panels/timeline/timeline_panel.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "panels/shared/keys.hpp"
#include "panels/timeline/timeline_collectives.hpp"
#include "panels/timeline/timeline_data.hpp"
#include "panels/timeline/timeline_draw_context.hpp"
#include "panels/timeline/timeline_gap_list.hpp"
#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/timeline/timeline_labels.hpp"
#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/timeline/timeline_reasons.hpp"
#include "panels/timeline/timeline_ruler.hpp"
#include "panels/timeline/timeline_span_table.hpp"
#include "panels/timeline/timeline_toolbar.hpp"
#include "panels/timeline/timeline_visible.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

constexpr double kMinNodesWidth = 40;   // screen points of a replay whose nodes are drawn
constexpr float kMinTablesBeside = 700;  // points; in a narrower panel, tables are below the rows
constexpr float kTableRows = 13;      // of these tables: eight, below totals, a choice and a header
constexpr float kMinRowsAbove = 110;  // points above these tables
constexpr double kMaxAxisReplays = 50;  // visible replay lengths up to which a replay is the origin

}  // namespace

struct TimelinePanel::State {
  explicit State(Background& background)
      : data(background), gap_list(background), span_table(background) {}

  void draw(PanelContext& context);
  void draw_rows(PanelContext& context, const trace::Replay* replay,
                 const TimelineData::Scene& scene);
  void draw_tables(const TimelineDrawContext& dc,
                   const std::shared_ptr<const model::Activity>& activity,
                   const TimelineData::Scene& scene, ImVec2 size);
  void fit(TimelineFit part, const trace::Replay* replay, TimelineSpan time_span);
  void follow_replay(const trace::Replay& replay, TimelineSpan time_span);
  void reveal(const PanelContext& context, const TimelineScene& scene,
              const TimelineLayout& layout);
  void reveal_graph(const PanelContext& context, const TimelineLayout& layout, float height);
  void handle_mouse(PanelContext& context, TimelineDrawContext& dc, TimelineSpan time_span,
                    const trace::Replay* replay);
  void draw_menu(PanelContext& context, const trace::Replay* replay, TimelineSpan time_span);
  void show(Time started, Time ended);

  TimelineData data;
  TimelineGapList gap_list;
  TimelineSpanTable span_table;
  TimelineOptions options;
  TimelineLevels levels;
  Canvas canvas{CanvasAxes::Horizontal};
  TimelineRuler ruler;
  CanvasMenu menu;
  std::shared_ptr<const model::SampleStore> samples;  // of the last drawn document
  Time origin = 0;                                    // of the plane
  std::optional<TimelineData::ReplayKey> drawn;       // the last drawn replay, and its start
  Time drawn_start = 0;
  model::GraphKey revealed_graph;
  TimelineFit fitted = TimelineFit::None;  // the view has not been moved since fit()
  trace::Time fitted_ranks_end = 0;        // of the replay on all ranks, which is known later
  TimelineFit fit_next = TimelineFit::None;
  bool view_requested = false;  // the canvas moves in the next frame
  ImVec2 size{0, 0};
  float scroll = 0;  // vertical scroll offset, screen points
  TimelineOpened opened;
  TimelineResize resize;
  float tables_width = 0;
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
  if (samples != context.document->samples) {
    samples = context.document->samples;
    origin = context.document->first;
    drawn.reset();
    opened = {};
  }
  if (!options.is_by_chosen) {
    const auto& graphs = context.document->graphs;
    const bool any_lanes = std::any_of(graphs.begin(), graphs.end(), [](const auto& g) {
      return g.second.graph->record().lanes > 1;
    });
    options.by = any_lanes ? model::RowsBy::Lane : model::RowsBy::Worker;
  }
  levels.reset(samples.get(), options.by);
  data.request(context, options.by);
  const TimelineData::Scene scene = data.shown();
  const TimelineAction action = draw_timeline_toolbar(context, scene.get(), fitted, options);
  if (action.newest) context.view.replay.reset();
  if (action.go) data.choose(context, *action.go);
  fit_next = action.fit;
  if (const auto chosen = data.take_choice()) context.view.replay = *chosen;
  if (context.replay == nullptr) {
    const TimelineReason reason = missing_nodes_reason(context);
    if (reason.is_busy && !drawn) return draw_busy(context.theme, reason.title);
    return draw_rows(context, nullptr, nullptr);
  }
  draw_rows(context, scene ? &scene->replay : &context.replay->replay, scene);
}

// Fits the recording, or the replay and its launch call if that is close to the start.
void TimelinePanel::State::fit(TimelineFit part, const trace::Replay* replay,
                               TimelineSpan time_span) {
  fitted = part;
  view_requested = true;
  if (part == TimelineFit::Recording || replay == nullptr) {
    fitted = TimelineFit::Recording;
    return canvas.fit();
  }
  const auto on_ranks = data.rank_replay();
  fitted_ranks_end = on_ranks->ended;
  const TimelineSpan span = fitted_span(*replay, time_span, *on_ranks);
  canvas.show(
      {static_cast<double>(span.started - origin), 0, static_cast<double>(span.ended - origin), 1});
}

// Keeps the part of the replay in view when another replay is shown; the view stays if the new
// replay is in it.
void TimelinePanel::State::follow_replay(const trace::Replay& replay, TimelineSpan time_span) {
  const TimelineData::ReplayKey key{{replay.graph, replay.version}, replay.replay};
  if (drawn == key) return;
  const bool is_first = !drawn;
  const Time before = std::exchange(drawn_start, time_span.started);
  drawn = key;
  if (is_first || fitted == TimelineFit::Replay)
    return fit(TimelineFit::Replay, &replay, time_span);
  const CanvasBounds visible = canvas.visible_area();
  const auto started = static_cast<double>(time_span.started - origin),
             ended = static_cast<double>(time_span.ended - origin);
  if (fitted == TimelineFit::Recording || (ended > visible.left && started < visible.right)) return;
  canvas.centre((visible.left + visible.right) / 2 + static_cast<double>(drawn_start - before), 0);
}

void TimelinePanel::State::draw_rows(PanelContext& context, const trace::Replay* replay,
                                     const TimelineData::Scene& scene) {
  const Theme& theme = context.theme;
  const model::Document& document = *context.document;
  const TimelineSpan time_span = replay != nullptr
                                     ? span_of_replay(*replay, scene.get())
                                     : TimelineSpan{origin, std::max(document.last, origin + 1000)};
  const auto length = static_cast<double>(time_span.ended - time_span.started),
             start = static_cast<double>(time_span.started - origin);
  const ImVec2 at = ImGui::GetCursorScreenPos(), available = ImGui::GetContentRegionAvail();
  const bool has_span = std::holds_alternative<model::SelectedSpan>(context.view.selection);
  const float labels = std::min(150 * theme.scale, available.x * 0.3f), bar = 10 * theme.scale,
              ruler_height = 20 * theme.scale;
  // Beside the rows, or below them in a narrow panel.
  const bool has_tables = options.gap_list || has_span,
             is_beside = available.x > kMinTablesBeside * theme.scale;
  const float list_width =
      has_tables && is_beside ? std::min(470 * theme.scale, available.x * 0.5f) : 0;
  const float half = available.y / 2;
  const float list_height =
      has_tables && !is_beside
          ? std::round(std::clamp(kTableRows * row_height(), half,
                                  std::max(available.y - kMinRowsAbove * theme.scale, half)))
          : 0;
  const ImVec2 area{std::max(available.x - labels - bar - list_width, 24.0f),
                    std::max(available.y - list_height, 40.0f)};
  // The visible part stays when tables appear beside it.
  if (std::exchange(tables_width, list_width) != list_width && fitted == TimelineFit::None &&
      size.x > 0) {
    const CanvasBounds part = canvas.visible_area();
    const double margin = (part.right - part.left) * Canvas::kMargin / (1 + 2 * Canvas::kMargin);
    canvas.show({part.left + margin, 0, part.right - margin, 1});
  }

  if (replay != nullptr) follow_replay(*replay, time_span);
  if (replay == nullptr && fitted == TimelineFit::None && size.x == 0)
    fit(TimelineFit::Recording, replay, time_span);
  ImGui::SetCursorScreenPos({at.x + labels, at.y});
  const double last = static_cast<double>(std::max(document.last, time_span.ended) - origin);
  const CanvasBounds recording{static_cast<double>(document.first - origin), 0, last, 1};
  const bool moved = canvas.begin("timeline", recording, theme, area);
  const bool resized = area.x != size.x || area.y != size.y;
  const CanvasBounds visible = canvas.visible_area();
  const bool is_whole = visible.left <= recording.left && visible.right >= recording.right;
  if (moved && !resized && !view_requested &&
      (fitted == TimelineFit::Replay || (fitted == TimelineFit::Recording && !is_whole)))
    fitted = TimelineFit::None;
  view_requested = false;
  size = area;
  if (fit_next != TimelineFit::None) {
    fit(fit_next, replay, time_span);
  } else if (canvas.is_hovered() && is_pressed(Key::Home)) {
    fit(fitted == TimelineFit::Replay ? TimelineFit::Recording : TimelineFit::Replay, replay,
        time_span);
  } else if (fitted == TimelineFit::Replay &&
             (resized || data.rank_replay()->ended != fitted_ranks_end)) {
    fit(fitted, replay, time_span);
  }
  if (canvas.is_hovered() && ImGui::IsMouseDragging(ImGuiMouseButton_Right, 1))
    scroll -= ImGui::GetIO().MouseDelta.y;
  if (const auto dragged = ruler.update(canvas)) {
    context.view.selection =
        model::SelectedSpan{std::max<Time>(origin + static_cast<Time>(dragged->first), 0),
                            std::max<Time>(origin + static_cast<Time>(dragged->second), 0)};
  }

  const auto others = data.others();
  const auto host = data.host();
  const auto activity = data.activity();
  const auto ranks = data.ranks();
  const auto on_ranks = data.rank_replay();
  if (scene != nullptr) levels.add({scene->replay.graph, scene->replay.version}, *scene);
  for (const auto& [key, other] : *others) levels.add(key.graph, *other);
  const float rows_height = area.y - ruler_height;
  const double min_length = kMinNodesWidth / canvas.zoom_x();
  const CanvasBounds in_view = canvas.visible_area();
  const Time from = origin + static_cast<Time>(in_view.left),
             to = origin + static_cast<Time>(in_view.right);
  const TimelineLayout layout = make_timeline_layout({.context = context,
                                                      .levels = levels,
                                                      .activity = *activity,
                                                      .ranks = *ranks,
                                                      .shown = scene.get(),
                                                      .host = host.get(),
                                                      .opened = opened,
                                                      .by = options.by,
                                                      .order = options.order,
                                                      .min_length = min_length,
                                                      .from = from,
                                                      .to = to,
                                                      .available_height = rows_height});
  data.request_others(context, options.by,
                      replays_with_nodes({.document = document,
                                          .layout = layout,
                                          .ranks = *ranks,
                                          .shown = drawn,
                                          .from = from,
                                          .to = to,
                                          .min_length = min_length}));
  if (!activity->graphs.empty()) reveal_graph(context, layout, rows_height);
  scroll = std::clamp(scroll, 0.0f, std::max(layout.height - rows_height, 0.0f));
  if (scene != nullptr && context.view.reveal_selection) reveal(context, *scene, layout);
  const auto* const span = std::get_if<model::SelectedSpan>(&context.view.selection);
  if (span != nullptr && context.view.reveal_selection) show(span->started, span->ended);

  const float rows_top = canvas.min().y + ruler_height;
  TimelineDrawContext dc{.context = context,
                         .canvas = canvas,
                         .layout = layout,
                         .options = options,
                         .host = *host,
                         .ranks = *ranks,
                         .arrivals = on_ranks->arrivals,
                         .origin = origin,
                         .zero = document.first,
                         .top = rows_top - scroll,
                         .rows_top = rows_top};
  if (replay != nullptr && visible.right - visible.left < kMaxAxisReplays * length &&
      visible.left < start + length && visible.right > start) {
    dc.zero = time_span.started;
    dc.zero_name = "replay start";
  }
  TimelineRulerDesc axis{
      .theme = theme, .canvas = canvas, .height = ruler_height, .zero = dc.plane_of(dc.zero)};
  if (replay != nullptr) axis.replay = std::pair(start, start + length);
  if (span != nullptr)
    axis.selected = std::pair(dc.plane_of(span->started), dc.plane_of(span->ended));
  ruler.draw_lines(axis);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect({canvas.min().x, rows_top}, canvas.max(), true);
  draw_timeline_backgrounds(dc);
  draw_timeline_ranges(dc, *host);
  draw_timeline_replays(dc, *activity, drawn ? drawn->replay : 0);
  // All rows of active lanes or workers have one scale.
  std::uint32_t max_active = scene == nullptr ? 0 : scene->active.max_active();
  for (const auto& [key, other] : *others) {
    if (layout.find(TimelineRow::Kind::Active, 0, 0, key.graph) != nullptr)
      max_active = std::max(max_active, other->active.max_active());
  }
  for (const auto& [key, other] : *others) {
    if (drawn == key) continue;
    draw_timeline_nodes(dc, *other);
    draw_timeline_active(dc, *other, max_active);
  }
  if (scene != nullptr) {
    draw_timeline_active(dc, *scene, max_active);
    draw_timeline_gaps(dc, *scene);
    draw_timeline_nodes(dc, *scene);
    const bool path_matches = context.replay->replay.replay == scene->replay.replay;
    if (path_matches && shows_critical_path(context))
      draw_timeline_path(dc, *scene, context.replay->path);
    draw_timeline_links(dc, *scene);
    draw_timeline_labels_of(dc, *scene);
  }
  draw_awaited_arrival(dc);
  list.PopClipRect();
  ruler.draw(axis);
  handle_mouse(context, dc, time_span, replay);
  canvas.end();
  draw_menu(context, replay, time_span);

  const ImVec2 names_max{at.x + labels, canvas.max().y};
  draw_timeline_labels(dc, *activity, scene.get(), {at.x, rows_top}, names_max);
  handle_timeline_names(dc, {at.x, rows_top}, names_max, opened, resize);
  const std::string axis_title = std::string("from ") + dc.zero_name;
  list.AddText(
      theme.small, theme.small->FontSize,
      {at.x + theme.half_space, canvas.min().y + (ruler_height - theme.small->FontSize) / 2},
      theme.ink_soft, axis_title.c_str());
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({at.x, rows_top}, names_max))
    scroll -= ImGui::GetIO().MouseWheel * 2 * theme.row;
  scroll = draw_timeline_scrollbar(theme, scroll, layout.height, rows_height,
                                   {canvas.max().x + 1, rows_top});
  if (list_width > 0) {
    ImGui::SetCursorScreenPos({canvas.max().x + bar + theme.half_space, at.y});
    draw_tables(dc, activity, scene, {list_width - theme.half_space, area.y});
  } else if (list_height > 0) {
    ImGui::SetCursorScreenPos({at.x, canvas.max().y + theme.half_space});
    draw_tables(dc, activity, scene, {available.x, list_height - theme.half_space});
  }
  if (scene != nullptr) {
    const auto named = std::find_if(layout.rows.rbegin(), layout.rows.rend(),
                                    [](const TimelineRow& r) { return !r.label.empty(); });
    const float names = named == layout.rows.rend() ? 0 : named->top + named->height;
    return draw_timeline_legend(dc, dc.top + names, at.x);
  }
  const float rows_end = std::min(dc.top + layout.height, canvas.max().y);
  const TimelineReason reason = missing_nodes_reason(context);
  const float top = std::min(rows_end, canvas.max().y - 4 * theme.row);
  ImGui::SetCursorScreenPos({canvas.min().x, top});
  ImGui::BeginChild("reason", {area.x, canvas.max().y - top}, false, ImGuiWindowFlags_NoInputs);
  reason.is_busy ? draw_busy(theme, reason.title) : draw_empty(theme, reason.title, reason.hint);
  ImGui::EndChild();
}

// Draws the tables of the selected span, or the gaps in view.
void TimelinePanel::State::draw_tables(const TimelineDrawContext& dc,
                                       const std::shared_ptr<const model::Activity>& activity,
                                       const TimelineData::Scene& scene, ImVec2 table_size) {
  PanelContext& context = dc.context;
  const CanvasBounds visible = canvas.visible_area();
  TimelineSpan span{dc.time_of(visible.left), dc.time_of(visible.right)};
  ImGui::BeginChild("tables", table_size);
  bool shows_gaps = true;
  if (const auto* const selected = std::get_if<model::SelectedSpan>(&context.view.selection)) {
    span = {selected->started, selected->ended};
    shows_gaps = span_table.draw(dc, activity, *selected);
  }
  const auto gap = shows_gaps ? gap_list.draw(dc, activity, scene, span) : std::nullopt;
  ImGui::EndChild();
  if (!gap) return;
  show(gap->started, gap->ended);
  if (std::holds_alternative<model::SelectedSpan>(context.view.selection)) return;
  if (const auto* idle = std::get_if<model::IdleGap>(&gap->gap)) {
    context.view.select(model::SelectedReplay{idle->graph, idle->replay});
  } else {
    context.view.select(
        model::SelectedNode{context.view.graph, std::get<model::Gap>(gap->gap).node});
  }
}

// Scrolls to the rows of another graph once.
void TimelinePanel::State::reveal_graph(const PanelContext& context, const TimelineLayout& layout,
                                        float height) {
  const auto found = std::find_if(layout.rows.begin(), layout.rows.end(), [&](const auto& r) {
    return (r.kind == TimelineRow::Kind::Replays || r.kind == TimelineRow::Kind::Rank) &&
           r.graph == context.view.graph;
  });
  const TimelineRow* const row = found == layout.rows.end() ? nullptr : &*found;
  if (row == nullptr || revealed_graph == context.view.graph) return;
  revealed_graph = context.view.graph;
  if (row->top < scroll || row->top + 3 * row->height > scroll + height) scroll = row->top;
}

void TimelinePanel::State::show(Time started, Time ended) {
  const auto left = static_cast<double>(started - origin),
             right = static_cast<double>(ended - origin),
             margin = std::max((right - left) * 0.3, 20.0);
  canvas.show({left - margin, 0, right + margin, 1});
  fitted = TimelineFit::None;
  view_requested = true;
}

void TimelinePanel::State::reveal(const PanelContext& context, const TimelineScene& scene,
                                  const TimelineLayout& layout) {
  const auto* const node = std::get_if<model::SelectedNode>(&context.view.selection);
  if (node == nullptr || node->graph != context.view.graph || node->node >= scene.items_of.size() ||
      scene.items_of[node->node] == trace::kNone)
    return;
  const model::TimelineItem& item = scene.rows.items[scene.items_of[node->node]];
  const auto started = static_cast<double>(item.started - origin),
             ended = static_cast<double>(item.ended - origin);
  const CanvasBounds visible = canvas.visible_area();
  if (ended < visible.left || started > visible.right) {
    canvas.centre((started + ended) / 2, 0);
    fitted = TimelineFit::None;
  }
  const model::TimelineRow& of = scene.rows.rows[item.row];
  const TimelineRow* const row =
      layout.find(TimelineRow::Kind::Nodes, of.group, of.level, context.view.graph);
  const float height = size.y - 20 * context.theme.scale;
  if (row != nullptr && (row->top < scroll || row->top + row->height > scroll + height)) {
    scroll = std::clamp(row->top - height / 2, 0.0f, std::max(layout.height - height, 0.0f));
  }
}

void TimelinePanel::State::draw_menu(PanelContext& context, const trace::Replay* replay,
                                     TimelineSpan time_span) {
  if (!menu.begin(context)) return;
  if (ImGui::MenuItem("Fit replay to view", nullptr, false, replay != nullptr))
    fit(TimelineFit::Replay, replay, time_span);
  if (ImGui::MenuItem("Fit recording to view")) fit(TimelineFit::Recording, replay, time_span);
  const CanvasBounds visible = canvas.visible_area();
  const bool has_span = std::holds_alternative<model::SelectedSpan>(context.view.selection);
  const char* const bookmark = has_span ? "Bookmark the selected span..." : "Bookmark this view...";
  if (!context.is_live && ImGui::MenuItem(bookmark)) {
    if (!has_span)
      context.view.select(model::SelectedSpan{origin + static_cast<Time>(visible.left),
                                              origin + static_cast<Time>(visible.right)});
    context.view.focus_note = true;
  }
  ImGui::MenuItem("Gap list", nullptr, &options.gap_list);
  ImGui::EndPopup();
}

void TimelinePanel::State::handle_mouse(PanelContext& context, TimelineDrawContext& dc,
                                        TimelineSpan time_span, const trace::Replay* replay) {
  if (!canvas.is_hovered() || ruler.is_dragging()) return;
  if (is_menu_click()) menu.open(item_of(context, dc.hit));
  if (ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseDown(ImGuiMouseButton_Middle))
    return;
  const bool clicked = canvas.is_clicked(), double_clicked = canvas.is_double_clicked();
  const model::Selection item = item_of(context, dc.hit);
  if (!std::holds_alternative<std::monostate>(item)) context.view.hovered = item;
  if (const auto* const node = std::get_if<NodeHit>(&dc.hit)) {
    const trace::Replay& of = node->scene->replay;
    const TimelineData::ReplayKey key{{of.graph, of.version}, of.replay};
    if (clicked && !(drawn == key)) context.view.show_replay(key.graph, key.replay);
    if (clicked) context.view.select(item);
    if (double_clicked) show(node->item->started, node->item->ended);
  } else if (const auto* const gap = std::get_if<GapHit>(&dc.hit)) {
    if (clicked) context.view.select(item);
    if (double_clicked) show(gap->gap->started, gap->gap->ended);
  } else if (const auto* const of = std::get_if<ReplayHit>(&dc.hit)) {
    if (clicked) context.view.go_to(item);
    if (double_clicked && of->replay.started != 0) show(of->replay.started, of->replay.ended);
  } else if (const auto* const idle = std::get_if<IdleHit>(&dc.hit)) {
    if (double_clicked) show(idle->gap.started, idle->gap.ended);
  } else if (const auto* const range = std::get_if<RangeHit>(&dc.hit)) {
    if (double_clicked) show(range->range.started, range->range.ended);
  } else if (const auto* const label = std::get_if<LabelHit>(&dc.hit)) {
    if (double_clicked) show(label->label.started, label->label.ended);
  } else {
    if (clicked) context.view.selection = {};
    if (double_clicked && std::holds_alternative<BlockHit>(dc.hit)) {
      // A block may fill the view, so it is magnified at the mouse.
      const CanvasBounds visible = canvas.visible_area();
      const double middle = canvas.x_of(ImGui::GetIO().MousePos.x),
                   half = (visible.right - visible.left) / 16;
      show(dc.time_of(middle - half), dc.time_of(middle + half));
    } else if (double_clicked) {
      fit(TimelineFit::Replay, replay, time_span);
    }
  }
  draw_timeline_tooltip(dc);
}

}  // namespace reprise::viewer

#include "panels/replays/replays_panel.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/replays/replays_data.hpp"
#include "panels/replays/replays_drag.hpp"
#include "panels/replays/replays_histogram.hpp"
#include "panels/replays/replays_legend.hpp"
#include "panels/replays/replays_plot.hpp"
#include "panels/replays/replays_rank_plot.hpp"
#include "panels/replays/replays_table.hpp"
#include "panels/replays/replays_tooltip.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kFullHeight = 150;        // minimum height for the latency and gap strips
constexpr float kLegendHeight = 60;       // minimum height for the legend
constexpr float kStatisticsHeight = 300;  // minimum height for the histogram and the table

// The index of a replay; replays.size() if the list does not contain it.
std::size_t index_of(const model::ListView<trace::Replay>& replays, std::uint64_t number) {
  const std::size_t at = replays.lower_bound(
      number, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  return at < replays.size() && replays[at].replay == number ? at : replays.size();
}

std::string range_text(const model::ListView<trace::Replay>& replays,
                       const model::ReplayRange& range) {
  if (replays.empty() || range.first >= replays.size())
    return "no replays in the selected range (Esc clears)";
  const std::size_t count = std::min(range.count, replays.size() - range.first);
  std::string text = "selected: ";
  if (!range.covers_all_indices()) {
    text += count_text(replays[range.first].replay) + " to " +
            count_text(replays[range.first + count - 1].replay);
    if (!range.durations) text += ", " + count_text(count) + (count == 1 ? " replay" : " replays");
  }
  if (range.durations) {
    text += (range.covers_all_indices() ? "" : ", ") + duration_text(range.durations->min) +
            " to " + duration_text(range.durations->max);
  }
  return text + " (Esc clears)";
}

}  // namespace

struct ReplaysPanel::State {
  // The strip above the views, or the view: each has its own zoom.
  struct Area {
    ReplaysData::Detail detail = ReplaysData::Detail::Strip;
    Canvas canvas{CanvasAxes::Horizontal};
    ReplaysDrag drag;
    GraphPointer graph;          // the graph of the last frame
    std::size_t last_size = 0;   // number of its replays in the last frame
    double last_right = 0;       // right end of the visible area in the last frame
    std::size_t menu_index = 0;  // the replay of the context menu
    bool opens_menu = false;
  };

  explicit State(Background& background) : data(background) {
    view.detail = ReplaysData::Detail::All;
  }

  // Requests the data. Null, with a placeholder drawn, if there is nothing to show.
  [[nodiscard]] std::shared_ptr<const ReplaysSeries> prepare(PanelContext& context, Area& area);
  void draw(PanelContext& context);
  void draw_strips(PanelContext& context, Area& area, const ReplaysSeries& series, ImVec2 at,
                   ImVec2 size);
  void draw_statistics(PanelContext& context, const ReplaysSeries& series);
  static void follow_newest(PanelContext& context, Area& area, std::size_t size);
  void handle_mouse(PanelContext& context, Area& area, const ReplaysSeries& series);
  static void draw_menu(PanelContext& context, Area& area, const ReplaysSeries& series);

  ReplaysData data;
  Area strip, view;
  ReplaysHistogram histogram;
};

ReplaysPanel::ReplaysPanel(Background& background) : state_(std::make_unique<State>(background)) {}
ReplaysPanel::~ReplaysPanel() = default;
void ReplaysPanel::draw(PanelContext& context) { state_->draw(context); }

void ReplaysPanel::draw_strip(PanelContext& context) {
  State& s = *state_;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  if (const auto series = s.prepare(context, s.strip))
    s.draw_strips(context, s.strip, *series, at, size);
}

std::shared_ptr<const ReplaysSeries> ReplaysPanel::State::prepare(PanelContext& context,
                                                                  Area& area) {
  const Theme& theme = context.theme;
  if (context.entry == nullptr) {
    draw_empty(theme, "No graph yet", "Waiting for a graph in the trace.");
    return nullptr;
  }
  if (area.graph != context.entry->graph) {
    area.graph = context.entry->graph;
    area.last_size = 0;
    area.canvas.fit();
  }
  data.request(context, area.detail,
               histogram.dragged() ? histogram.dragged() : context.view.range.durations);
  if (context.entry->replays.empty()) {
    draw_empty(theme, "No replays of " + context.entry->graph->name() + " yet",
               "Each launch adds a bar.");
    return nullptr;
  }
  auto series = data.series();
  if (!series)
    draw_busy(theme, "Loading " + count_text(context.entry->replays.size()) + " replays");
  return series;
}

void ReplaysPanel::State::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const auto series = prepare(context, view);
  if (!series) return;
  const float statistics_height =
      size.y > kStatisticsHeight * theme.scale
          ? std::clamp(size.y * 0.34f, 130 * theme.scale, 300 * theme.scale)
          : 0;
  draw_strips(context, view, *series, at, {size.x, size.y - statistics_height});
  if (statistics_height > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - statistics_height + theme.half_space});
    draw_statistics(context, *series);
  }
}

// Live: keeps the newest replays visible. Turns off ViewState::follow once the user moves the view
// away from the end.
void ReplaysPanel::State::follow_newest(PanelContext& context, Area& area, std::size_t size) {
  const CanvasBounds visible = area.canvas.visible_area();
  const double end = static_cast<double>(size), last_end = static_cast<double>(area.last_size);
  const bool was_at_end = area.last_size != 0 && area.last_right >= last_end - 0.5,
             is_at_end = visible.right >= last_end - 0.5;
  if (context.is_live && context.view.follow && !context.view.paused && area.last_size != 0) {
    if (was_at_end && !is_at_end) {
      context.view.follow = false;
    } else if (visible.right < end) {
      area.canvas.follow_right(end);
    }
  }
  area.last_size = size;
  area.last_right = area.canvas.visible_area().right;
}

void ReplaysPanel::State::draw_strips(PanelContext& context, Area& area,
                                      const ReplaysSeries& series, ImVec2 at, ImVec2 size) {
  const Theme& theme = context.theme;
  Canvas& canvas = area.canvas;
  const float s = theme.scale, line = theme.small->FontSize;
  const model::SampleSources* const sources =
      context.entry->statistics ? &context.entry->statistics->sources : nullptr;
  const bool has_legend = size.y >= kLegendHeight * s;
  if (has_legend) {
    draw_replays_legend(
        theme, {at.x + theme.half_space, at.y}, size.x - theme.space,
        {series.main.value(), series.replays.size(),
         context.view.has_range() ? range_text(series.replays, context.view.range) : "", sources});
  }
  const float left = 66 * s, right = 92 * s, header = has_legend ? line + 3 * s : 0;
  ImGui::SetCursorScreenPos({at.x + left, at.y + header});
  canvas.begin("replays", {0, 0, static_cast<double>(series.replays.size()), 1}, theme,
               {std::max(size.x - left - right, 24.0f), std::max(size.y - header, 24.0f)});
  follow_newest(context, area, series.replays.size());
  area.drag.update(canvas, series.replays.size(), context.view);
  handle_mouse(context, area, series);

  const float top = canvas.min().y, numbers = canvas.max().y - line - 2 * s, height = numbers - top;
  const bool has_more = area.detail == ReplaysData::Detail::All && height > kFullHeight * s;
  const auto ranks = has_more ? data.ranks() : nullptr;
  const float between = 6 * s, by_rank = ranks ? height * 0.32f : 0,
              main = ranks      ? height * 0.36f
                     : has_more ? height * 0.56f
                                : height,
              other = (height - main - by_rank) / 2 - between;
  const auto overall = data.overall();
  const auto matches = data.matches();
  ReplayPlot plot{.series = series.main, .top = top, .bottom = top + main};
  if (overall) plot.summary = overall->main;
  plot.matches = matches.get();
  plot.sources = sources;
  plot.replays = &series.replays;
  const std::uint64_t shown =
      context.replay != nullptr ? context.replay->replay.replay : context.view.replay.value_or(0);
  if (const std::size_t index = index_of(series.replays, shown); index < series.replays.size())
    plot.shown = index;
  if (const auto* hovered = std::get_if<model::SelectedReplay>(&context.view.hovered)) {
    if (hovered->graph == area.graph->key())
      plot.hovered = index_of(series.replays, hovered->replay);
  }
  draw_replay_plot(theme, canvas, plot);
  if (ranks) {
    draw_rank_plot(theme, canvas,
                   {.series = *ranks,
                    .top = top + main + between,
                    .bottom = top + main + by_rank,
                    .shown = plot.shown,
                    .hovered = plot.hovered});
  }
  if (has_more) {
    const float below = top + main + by_rank + between;
    ReplayPlot latency{.series = series.latency, .top = below, .bottom = below + other};
    if (overall) latency.summary = overall->latency;
    latency.matches = plot.matches;
    latency.shown = plot.shown;
    latency.hovered = plot.hovered;
    latency.marks = ReplayPlot::Marks::None;
    latency.title = "launch-to-start latency";
    draw_replay_plot(theme, canvas, latency);
    ReplayPlot gap{.series = series.gap, .top = numbers - other, .bottom = numbers};
    if (overall) gap.summary = overall->gap;
    gap.matches = plot.matches;
    gap.shown = plot.shown;
    gap.hovered = plot.hovered;
    gap.marks = ReplayPlot::Marks::None;
    gap.title = "gap since previous replay";
    draw_replay_plot(theme, canvas, gap);
  }
  if (!context.view.range.covers_all_indices()) {
    const std::size_t first = std::min(context.view.range.first, series.replays.size());
    draw_replay_range(theme, canvas, first,
                      first + std::min(context.view.range.count, series.replays.size() - first),
                      top, numbers);
  }
  draw_replay_numbers(theme, canvas, series.replays, numbers);
  canvas.end();
  draw_menu(context, area, series);
}

void ReplaysPanel::State::draw_menu(PanelContext& context, Area& area,
                                    const ReplaysSeries& series) {
  if (std::exchange(area.opens_menu, false)) ImGui::OpenPopup("replay menu");
  if (!ImGui::BeginPopup("replay menu")) return;
  ViewState& view = context.view;
  const std::size_t at = std::min(area.menu_index, series.replays.size() - 1),
                    first = std::min(view.range.first, series.replays.size()),
                    end = first + std::min(view.range.count, series.replays.size() - first);
  draw_item_menu(context, model::SelectedReplay{area.graph->key(), series.replays[at].replay});
  ImGui::Separator();
  if (ImGui::MenuItem("Range starts here")) {
    view.range.first = at;
    view.range.count = std::max(end, at + 1) - at;
  }
  if (ImGui::MenuItem("Range ends here")) {
    view.range.first = std::min(first, at);
    view.range.count = at + 1 - view.range.first;
  }
  if (ImGui::MenuItem("Clear range", "Esc", false, view.has_range())) view.range = {};
  if (ImGui::MenuItem("Compare with the rest", nullptr, false, view.has_range())) {
    view.compare_with_rest = true;
    view.show(View::Compare);
  }
  if (ImGui::MenuItem("Fit to view", "Home")) area.canvas.fit();
  ImGui::Separator();
  if (ImGui::MenuItem("Save replays as CSV..."))
    view.save =
        FileToSave{"replays.csv", replays_csv(*context.document, series.replays, view.range)};
  ImGui::EndPopup();
}

void ReplaysPanel::State::handle_mouse(PanelContext& context, Area& area,
                                       const ReplaysSeries& series) {
  Canvas& canvas = area.canvas;
  if (!canvas.is_hovered() || area.drag.is_active()) return;
  const double x = canvas.x_of(ImGui::GetIO().MousePos.x);
  if (x < 0 || x >= static_cast<double>(series.replays.size())) return;
  const auto index = static_cast<std::size_t>(x);
  const std::size_t length = bar_length(series.main, canvas.zoom_x()),
                    first = index / length * length;
  const std::size_t end = std::min(first + length, series.replays.size());
  const ReplayBar bar{first, end, series.main.run(first, end)};
  // A bar of several replays selects its slowest replay.
  const std::size_t target = length > 1 && bar.run.known != 0 ? bar.run.max_index : index;
  const model::SelectedReplay replay{area.graph->key(), series.replays[target].replay};
  context.view.hovered = replay;
  if (canvas.is_clicked()) {
    context.view.replay = replay.replay;
    context.view.select(replay);
  }
  if (is_menu_click()) {
    area.menu_index = target;
    area.opens_menu = true;
  }
  if (canvas.is_double_clicked()) {
    const double middle = static_cast<double>(target) + 0.5;
    canvas.show({middle - 20, 0, middle + 20, 1});
  }
  const auto overall = data.overall();
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Right) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
    const auto ranks = area.detail == ReplaysData::Detail::All ? data.ranks() : nullptr;
    draw_replay_tooltip(context.theme, {series, bar, index, overall ? overall->main.median : -1,
                                        *context.entry, *context.document, ranks.get()});
  }
}

void ReplaysPanel::State::draw_statistics(PanelContext& context, const ReplaysSeries& series) {
  const Theme& theme = context.theme;
  const auto bins = data.bins();
  if (!bins || context.summary == nullptr) {
    draw_busy(theme, "Computing statistics");
    return;
  }
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const auto overall = data.overall();
  const double median = overall ? static_cast<double>(overall->main.median) : 0;
  const float table = std::min(std::max(size.x * 0.54f, 360 * theme.scale), size.x),
              left = size.x - table - 2 * theme.space;
  const bool has_histogram = left > 160 * theme.scale;
  if (has_histogram) {
    ImGui::BeginChild("histogram", {left, size.y}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PushFont(theme.small);
    const bool is_device = series.main.value() == ReplayValue::DeviceTime;
    std::optional<model::DurationBounds>& selected = context.view.range.durations;
    std::string title = std::string("Replay duration distribution (") +
                        (is_device ? "device time)" : "launch call)");
    if (const auto matches = data.matches(); matches && (selected || histogram.dragged())) {
      const model::DurationBounds& shown = histogram.dragged() ? *histogram.dragged() : *selected;
      title = count_text(matches->indices.size()) + " of " +
              count_text(std::min(context.view.range.count,
                                  series.replays.size() -
                                      std::min(context.view.range.first, series.replays.size()))) +
              " replays: " + duration_text(shown.min) + " to " + duration_text(shown.max);
    }
    ImGui::TextUnformatted(title.c_str());
    if (selected) {
      ImGui::SameLine(0, 2 * theme.space);
      if (draw_action(theme, "Compare with the rest",
                      "Compares the nodes of these replays with those of the other replays")) {
        context.view.compare_with_rest = true;
        context.view.show(View::Compare);
      }
    }
    ImGui::PopFont();
    histogram.draw(theme, *bins, median, selected, ImGui::GetContentRegionAvail());
    ImGui::EndChild();
    ImGui::SameLine(0, 2 * theme.space);
  }
  ImGui::BeginChild("quantiles", {0, size.y}, false, ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PushFont(theme.small);
  ImGui::TextUnformatted(context.view.has_range()
                             ? range_text(series.replays, context.view.range).c_str()
                             : "All replays");
  ImGui::PopFont();
  draw_replay_table(theme, context.view, *context.summary);
  ImGui::EndChild();
}

}  // namespace reprise::viewer

#include "panels/replays/replays_panel.hpp"

#include <algorithm>
#include <cmath>

#include "panels/replays/replays_data.hpp"
#include "panels/replays/replays_drag.hpp"
#include "panels/replays/replays_legend.hpp"
#include "panels/replays/replays_plot.hpp"
#include "panels/replays/replays_table.hpp"
#include "panels/replays/replays_tooltip.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kFullHeight = 200;        // minimum height for the latency and gap strips
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
  return "selected: " + count_text(replays[range.first].replay) + " to " +
         count_text(replays[range.first + count - 1].replay) + ", " + count_text(count) +
         (count == 1 ? " replay" : " replays") + " (Esc clears)";
}

}  // namespace

struct ReplaysPanel::State {
  explicit State(Background& background) : data(background) {}

  void draw(PanelContext& context);
  void draw_strips(PanelContext& context, const ReplaysSeries& series, ImVec2 at, ImVec2 size);
  void draw_statistics(PanelContext& context, const ReplaysSeries& series);
  void follow_newest(PanelContext& context, std::size_t size);
  void handle_mouse(PanelContext& context, const ReplaysSeries& series);

  ReplaysData data;
  Canvas canvas{CanvasAxes::Horizontal};
  ReplaysDrag drag;
  ReplaysHistogram histogram;
  GraphPointer graph;         // the graph of the last frame
  std::size_t last_size = 0;  // number of its replays in the last frame
  double last_right = 0;      // right end of the visible area in the last frame
  bool is_tall = false;
  std::shared_ptr<const Matches> applied_matches;  // the last matches considered for the range
};

ReplaysPanel::ReplaysPanel(Background& background) : state_(std::make_unique<State>(background)) {}
ReplaysPanel::~ReplaysPanel() = default;
void ReplaysPanel::draw(PanelContext& context) { state_->draw(context); }

void ReplaysPanel::State::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.entry == nullptr) {
    draw_empty(theme, "No graph yet", "Waiting for a graph in the trace.");
    return;
  }
  if (graph != context.entry->graph) {
    graph = context.entry->graph;
    last_size = 0;
    canvas.fit();
    histogram.clear();
  }
  const ImVec2 size = ImGui::GetContentRegionAvail();
  is_tall = size.y > kFullHeight * theme.scale;
  if (!is_tall) histogram.clear();
  data.request(context, is_tall ? ReplaysData::Detail::All : ReplaysData::Detail::Strip,
               histogram.selected());
  if (context.entry->replays.empty()) {
    draw_empty(theme, "No replays of " + context.entry->graph->name() + " yet",
               "Each launch adds a bar.");
    return;
  }
  const auto series = data.series();
  if (!series) {
    draw_busy(theme, "Loading " + count_text(context.entry->replays.size()) + " replays");
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float statistics_height =
      is_tall && size.y > kStatisticsHeight * theme.scale
          ? std::clamp(size.y * 0.34f, 130 * theme.scale, 300 * theme.scale)
          : 0;
  draw_strips(context, *series, at, {size.x, size.y - statistics_height});
  if (statistics_height > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - statistics_height + theme.half_space});
    draw_statistics(context, *series);
  }
}

// Live: keeps the newest replays visible. Turns off ViewState::follow once the user moves the view
// away from the end.
void ReplaysPanel::State::follow_newest(PanelContext& context, std::size_t size) {
  const CanvasBounds visible = canvas.visible_area();
  const double end = static_cast<double>(size), last_end = static_cast<double>(last_size);
  const bool was_at_end = last_size != 0 && last_right >= last_end - 0.5,
             is_at_end = visible.right >= last_end - 0.5;
  if (context.is_live && context.view.follow && !context.view.paused && last_size != 0) {
    if (was_at_end && !is_at_end) {
      context.view.follow = false;
    } else if (visible.right < end) {
      canvas.follow_right(end);
    }
  }
  last_size = size;
  last_right = canvas.visible_area().right;
}

void ReplaysPanel::State::draw_strips(PanelContext& context, const ReplaysSeries& series, ImVec2 at,
                                      ImVec2 size) {
  const Theme& theme = context.theme;
  const float s = theme.scale, line = theme.small->FontSize;
  const model::SampleSources* const sources =
      context.entry->statistics ? &context.entry->statistics->sources : nullptr;
  draw_replays_legend(
      theme, {at.x + theme.half_space, at.y}, size.x - theme.space,
      {series.main.value(), series.replays.size(),
       context.view.has_range() ? range_text(series.replays, context.view.range) : "", sources});
  const float left = 66 * s, right = 92 * s, header = line + 3 * s;
  const ImVec2 area{std::max(size.x - left - right, 24.0f), std::max(size.y - header, 24.0f)};
  ImGui::SetCursorScreenPos({at.x + left, at.y + header});
  canvas.begin("replays", {0, 0, static_cast<double>(series.replays.size()), 1}, theme, area);
  follow_newest(context, series.replays.size());
  drag.update(canvas, series.replays.size(), context.view);
  handle_mouse(context, series);

  const float top = canvas.min().y, numbers = canvas.max().y - line - 2 * s, height = numbers - top;
  const bool has_more = is_tall && height > 150 * s;
  const float between = 6 * s, main = has_more ? height * 0.56f : height,
              other = (height - main) / 2 - between;
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
    if (hovered->graph == graph->key()) plot.hovered = index_of(series.replays, hovered->replay);
  }
  draw_replay_plot(theme, canvas, plot);
  if (has_more) {
    ReplayPlot latency{.series = series.latency,
                       .top = top + main + between,
                       .bottom = top + main + between + other};
    if (overall) latency.summary = overall->latency;
    latency.matches = plot.matches;
    latency.shown = plot.shown;
    latency.hovered = plot.hovered;
    latency.marks = ReplayPlot::Marks::None;
    latency.title = "latency: launch call to start";
    draw_replay_plot(theme, canvas, latency);
    ReplayPlot gap{.series = series.gap, .top = numbers - other, .bottom = numbers};
    if (overall) gap.summary = overall->gap;
    gap.matches = plot.matches;
    gap.shown = plot.shown;
    gap.hovered = plot.hovered;
    gap.marks = ReplayPlot::Marks::None;
    gap.title = "gap: end of the previous replay to start";
    draw_replay_plot(theme, canvas, gap);
  }
  if (context.view.has_range()) {
    const std::size_t first = std::min(context.view.range.first, series.replays.size());
    draw_replay_range(theme, canvas, first,
                      first + std::min(context.view.range.count, series.replays.size() - first),
                      top, numbers);
  }
  draw_replay_numbers(theme, canvas, series.replays, numbers);
  canvas.end();
}

void ReplaysPanel::State::handle_mouse(PanelContext& context, const ReplaysSeries& series) {
  if (!canvas.is_hovered() || drag.is_active()) return;
  const double x = canvas.x_of(ImGui::GetIO().MousePos.x);
  if (x < 0 || x >= static_cast<double>(series.replays.size())) return;
  const auto index = static_cast<std::size_t>(x);
  const std::size_t length = bar_length(series.main, canvas.zoom_x()),
                    first = index / length * length;
  const std::size_t end = std::min(first + length, series.replays.size());
  const ReplayBar bar{first, end, series.main.run(first, end)};
  // A bar of several replays selects its slowest replay.
  const std::size_t target = length > 1 && bar.run.known != 0 ? bar.run.max_index : index;
  const model::SelectedReplay replay{graph->key(), series.replays[target].replay};
  context.view.hovered = replay;
  if (canvas.is_clicked()) {
    context.view.replay = replay.replay;
    context.view.select(replay);
  }
  if (canvas.is_double_clicked()) {
    const double middle = static_cast<double>(target) + 0.5;
    canvas.show({middle - 20, 0, middle + 20, 1});
  }
  const auto overall = data.overall();
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Right) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
    draw_replay_tooltip(context.theme,
                        {series, bar, index, overall ? overall->main.median : -1, *context.entry});
  }
}

void ReplaysPanel::State::draw_statistics(PanelContext& context, const ReplaysSeries& series) {
  const Theme& theme = context.theme;
  const auto view_model = data.range();
  if (!view_model) {
    draw_busy(theme, "Computing statistics");
    return;
  }
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const auto overall = data.overall();
  const double median = overall ? static_cast<double>(overall->main.median) : 0;
  const float table = std::min(std::max(size.x * 0.46f, 360 * theme.scale), size.x),
              left = size.x - table - 2 * theme.space;
  const bool has_histogram = left > 160 * theme.scale;
  if (has_histogram) {
    ImGui::BeginChild("histogram", {left, size.y}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PushFont(theme.small);
    const bool is_device = series.main.value() == ReplayValue::DeviceTime;
    std::string title =
        std::string("Distribution of ") + (is_device ? "device time" : "launch call duration");
    if (const auto matches = data.matches(); matches && histogram.selected()) {
      title =
          count_text(matches->indices.size()) + " of " +
          count_text(context.view.has_range()
                         ? view_model->device.count + view_model->device.unknown
                         : series.replays.size()) +
          " replays: " + duration_text(histogram.selected()->min) + " to " +
          duration_text(histogram.selected()->max) +
          (matches->is_contiguous() ? " (contiguous, selected as range)" : " (highlighted above)");
    }
    ImGui::TextUnformatted(title.c_str());
    ImGui::PopFont();
    histogram.draw(theme, view_model->histogram, median, ImGui::GetContentRegionAvail());
    ImGui::EndChild();
    ImGui::SameLine(0, 2 * theme.space);
  } else {
    histogram.clear();
  }
  const auto matches = data.matches();
  if (matches && matches != applied_matches && !histogram.is_dragging()) {
    applied_matches = matches;
    if (matches->is_contiguous() && matches->indices.size() < series.replays.size())
      context.view.range = {matches->indices.front(), matches->indices.size()};
  }
  ImGui::BeginChild("quantiles", {0, size.y}, false, ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PushFont(theme.small);
  ImGui::TextUnformatted(context.view.has_range()
                             ? range_text(series.replays, context.view.range).c_str()
                             : "All replays");
  ImGui::PopFont();
  draw_replay_table(theme, *view_model);
  ImGui::EndChild();
}

}  // namespace reprise::viewer

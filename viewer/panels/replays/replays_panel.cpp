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

constexpr float kFullHeight = 200;    // from which on there is more than the strip
constexpr float kCountsHeight = 300;  // from which on there are the histogram and the table

std::size_t place_of(const model::ListView<trace::Replay>& replays, std::uint64_t number) {
  const std::size_t at = replays.lower_bound(
      number, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  return at < replays.size() && replays[at].replay == number ? at : replays.size();
}

std::string range_text(const model::ListView<trace::Replay>& replays,
                       const model::ReplayRange& range) {
  if (replays.empty() || range.first >= replays.size())
    return "no replay is in the chosen range (Esc clears it)";
  const std::size_t count = std::min(range.count, replays.size() - range.first);
  return "chosen: " + count_text(replays[range.first].replay) + " to " +
         count_text(replays[range.first + count - 1].replay) + ", " + count_text(count) +
         (count == 1 ? " replay" : " replays") + " (Esc clears)";
}

}  // namespace

struct ReplaysPanel::State {
  explicit State(Background& background) : data(background) {}

  void draw(PanelContext& context);
  void draw_strips(PanelContext& context, const ReplaysSeries& series, ImVec2 at, ImVec2 size);
  void draw_counts(PanelContext& context, const ReplaysSeries& series);
  void keep_newest_in_sight(PanelContext& context, std::size_t size);
  void take_mouse(PanelContext& context, const ReplaysSeries& series);

  ReplaysData data;
  Canvas canvas{CanvasAxes::Horizontal};
  ReplaysDrag drag;
  ReplaysHistogram histogram;
  GraphPointer graph;          // that was drawn last
  std::size_t known_size = 0;  // of its list, then
  double right_before = 0;     // of what was in sight
  bool is_tall = false;
  std::shared_ptr<const Matches> put_as_range;  // these have become the range already
};

ReplaysPanel::ReplaysPanel(Background& background) : state_(std::make_unique<State>(background)) {}
ReplaysPanel::~ReplaysPanel() = default;
void ReplaysPanel::draw(PanelContext& context) { state_->draw(context); }

void ReplaysPanel::State::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.entry == nullptr) {
    draw_empty(theme, "No graph yet",
               "A graph and its replays appear here as soon as the trace has one.");
    return;
  }
  if (graph != context.entry->graph) {
    graph = context.entry->graph;
    known_size = 0;
    canvas.fit();
    histogram.clear();
  }
  const ImVec2 size = ImGui::GetContentRegionAvail();
  is_tall = size.y > kFullHeight * theme.scale;
  if (!is_tall) histogram.clear();
  data.ask(context, is_tall ? ReplaysData::Detail::All : ReplaysData::Detail::Strip,
           histogram.chosen());
  if (context.entry->replays.empty()) {
    draw_empty(theme, "No replay of " + context.entry->graph->name() + " yet",
               "A bar for each appears here as it is launched.");
    return;
  }
  const auto series = data.series();
  if (!series) {
    draw_busy(theme, "Looking at " + count_text(context.entry->replays.size()) + " replays");
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float counts = is_tall && size.y > kCountsHeight * theme.scale
                           ? std::clamp(size.y * 0.34f, 130 * theme.scale, 300 * theme.scale)
                           : 0;
  draw_strips(context, *series, at, {size.x, size.y - counts});
  if (counts > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - counts + theme.half_space});
    draw_counts(context, *series);
  }
}

// Live, and as long as the user has not moved away from the end.
void ReplaysPanel::State::keep_newest_in_sight(PanelContext& context, std::size_t size) {
  const CanvasBounds sight = canvas.in_sight();
  const double end = static_cast<double>(size), end_before = static_cast<double>(known_size);
  const bool was_at_end = known_size != 0 && right_before >= end_before - 0.5,
             is_at_end = sight.right >= end_before - 0.5;
  if (context.is_live && context.view.follow && !context.view.paused && known_size != 0) {
    if (was_at_end && !is_at_end) {
      context.view.follow = false;
    } else if (sight.right < end) {
      canvas.follow_right(end);
    }
  }
  known_size = size;
  right_before = canvas.in_sight().right;
}

void ReplaysPanel::State::draw_strips(PanelContext& context, const ReplaysSeries& series, ImVec2 at,
                                      ImVec2 size) {
  const Theme& theme = context.theme;
  const float s = theme.scale, line = theme.small->FontSize;
  const model::SampleSources* const sources =
      context.entry->statistics ? &context.entry->statistics->sources : nullptr;
  draw_replays_legend(
      theme, {at.x + theme.half_space, at.y}, size.x - theme.space,
      {series.main.what(), series.replays.size(),
       context.view.has_range() ? range_text(series.replays, context.view.range) : "", sources});
  const float left = 66 * s, right = 92 * s, header = line + 3 * s;
  const ImVec2 area{std::max(size.x - left - right, 24.0f), std::max(size.y - header, 24.0f)};
  ImGui::SetCursorScreenPos({at.x + left, at.y + header});
  canvas.begin("replays", {0, 0, static_cast<double>(series.replays.size()), 1}, theme, area);
  keep_newest_in_sight(context, series.replays.size());
  drag.update(canvas, series.replays.size(), context.view);
  take_mouse(context, series);

  const float top = canvas.min().y, numbers = canvas.max().y - line - 2 * s, height = numbers - top;
  const bool has_more = is_tall && height > 150 * s;
  const float between = 6 * s, main = has_more ? height * 0.56f : height,
              other = (height - main) / 2 - between;
  const auto overall = data.overall();
  const auto matches = data.matches();
  ReplayPlot plot{.series = series.main, .top = top, .bottom = top + main};
  if (overall) plot.figures = overall->main;
  plot.matches = matches.get();
  plot.sources = sources;
  plot.replays = &series.replays;
  const std::uint64_t shown =
      context.replay != nullptr ? context.replay->replay.replay : context.view.replay.value_or(0);
  if (const std::size_t place = place_of(series.replays, shown); place < series.replays.size())
    plot.shown = place;
  if (const auto* hovered = std::get_if<model::SelectedReplay>(&context.view.hovered)) {
    if (hovered->graph == graph->key()) plot.hovered = place_of(series.replays, hovered->replay);
  }
  draw_replay_plot(theme, canvas, plot);
  if (has_more) {
    ReplayPlot latency{.series = series.latency,
                       .top = top + main + between,
                       .bottom = top + main + between + other};
    if (overall) latency.figures = overall->latency;
    latency.matches = plot.matches;
    latency.shown = plot.shown;
    latency.hovered = plot.hovered;
    latency.marks = ReplayPlot::Marks::None;
    latency.title = "latency: from the call of launch to the start";
    draw_replay_plot(theme, canvas, latency);
    ReplayPlot gap{.series = series.gap, .top = numbers - other, .bottom = numbers};
    if (overall) gap.figures = overall->gap;
    gap.matches = plot.matches;
    gap.shown = plot.shown;
    gap.hovered = plot.hovered;
    gap.marks = ReplayPlot::Marks::None;
    gap.title = "gap: from the end of the replay before to the start";
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

void ReplaysPanel::State::take_mouse(PanelContext& context, const ReplaysSeries& series) {
  if (!canvas.is_hovered() || drag.is_active()) return;
  const double x = canvas.x_of(ImGui::GetIO().MousePos.x);
  if (x < 0 || x >= static_cast<double>(series.replays.size())) return;
  const auto place = static_cast<std::size_t>(x);
  const std::size_t length = bar_length(series.main, canvas.zoom_x()),
                    first = place / length * length;
  const std::size_t end = std::min(first + length, series.replays.size());
  const ReplayBar bar{first, end, series.main.run(first, end)};
  // Of a run, the one that sticks out.
  const std::size_t which = length > 1 && bar.run.known != 0 ? bar.run.greatest_at : place;
  const model::SelectedReplay replay{graph->key(), series.replays[which].replay};
  context.view.hovered = replay;
  if (canvas.is_clicked()) {
    context.view.replay = replay.replay;
    context.view.select(replay);
  }
  if (canvas.is_double_clicked()) {
    const double middle = static_cast<double>(which) + 0.5;
    canvas.show({middle - 20, 0, middle + 20, 1});
  }
  const auto overall = data.overall();
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Right) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
    draw_replay_tooltip(context.theme,
                        {series, bar, place, overall ? overall->main.median : -1, *context.entry});
  }
}

void ReplaysPanel::State::draw_counts(PanelContext& context, const ReplaysSeries& series) {
  const Theme& theme = context.theme;
  const auto view_model = data.range();
  if (!view_model) {
    draw_busy(theme, "Counting");
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
    const bool is_device = series.main.what() == ReplayValue::DeviceTime;
    std::string title = std::string("How many replays took how long (") +
                        (is_device ? "device time" : "launch call") + ")";
    if (const auto matches = data.matches(); matches && histogram.chosen()) {
      title = count_text(matches->places.size()) + " of " +
              count_text(context.view.has_range()
                             ? view_model->device.count + view_model->device.unknown
                             : series.replays.size()) +
              " replays took " + duration_text(histogram.chosen()->least) + " to " +
              duration_text(histogram.chosen()->greatest) +
              (matches->is_contiguous() ? ": one stretch, now the range" : ": highlighted above");
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
  if (matches && matches != put_as_range && !histogram.is_dragging()) {
    put_as_range = matches;
    if (matches->is_contiguous() && matches->places.size() < series.replays.size())
      context.view.range = {matches->places.front(), matches->places.size()};
  }
  ImGui::BeginChild("quantiles", {0, size.y}, false, ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PushFont(theme.small);
  ImGui::TextUnformatted(context.view.has_range()
                             ? range_text(series.replays, context.view.range).c_str()
                             : "Over all replays");
  ImGui::PopFont();
  draw_replay_table(theme, *view_model);
  ImGui::EndChild();
}

}  // namespace reprise::viewer

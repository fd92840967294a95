#include "panels/replays/replays_tooltip.hpp"

#include <cstdio>

#include "panels/replays/replays_rank_plot.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string time_or_unknown(trace::Time time) {
  return time < 0 ? "unknown" : duration_text(static_cast<double>(time));
}

std::string compared_text(trace::Time time, trace::Time median) {
  if (time < 0 || median <= 0) return {};
  return "  (" + change_text(static_cast<double>(time) / static_cast<double>(median) - 1) +
         " vs. median)";
}

}  // namespace

void draw_replay_tooltip(const Theme& theme, const ReplayTooltip& tooltip) {
  const auto& [series, bar, index, median, entry, document, ranks] = tooltip;
  ImGui::BeginTooltip();
  const float value_x = 160 * theme.scale;
  const auto field = [&](const char* name, const std::string& value) {
    draw_field(theme, name, value, value_x);
  };
  const bool is_device = series.main.value() == ReplayValue::DeviceTime;
  if (bar.end - bar.first > 1) {
    const ReplayRun& run = bar.run;
    const auto number = [&](std::size_t i) { return count_text(series.replays[i].replay); };
    ImGui::TextUnformatted((count_text(bar.end - bar.first) + " replays: " + number(bar.first) +
                            " to " + number(bar.end - 1))
                               .c_str());
    ImGui::Separator();
    field("min", time_or_unknown(run.min));
    field("median", time_or_unknown(run.median) + compared_text(run.median, median));
    if (run.known != 0)
      field("max", time_or_unknown(run.max) + compared_text(run.max, median) + ", replay " +
                       number(run.max_index));
    if (run.sampled != 0) field("sampled", count_text(run.sampled));
    if (run.known != bar.end - bar.first)
      field("untimed", count_text(bar.end - bar.first - run.known));
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted("Click to show the slowest. Zoom in for single replays.");
    ImGui::PopStyleColor();
  } else {
    const trace::Replay& replay = series.replays[index];
    ImGui::TextUnformatted(("replay " + count_text(replay.replay)).c_str());
    ImGui::Separator();
    const auto measure = [&](model::ReplayMeasure m) { return model::measure(replay, m); };
    const trace::Time device = measure(model::ReplayMeasure::DeviceTime),
                      call = measure(model::ReplayMeasure::LaunchCall);
    field("device time",
          time_or_unknown(device) + (is_device ? compared_text(device, median) : ""));
    if (ranks != nullptr) draw_rank_fields(theme, document, *ranks, index, value_x);
    field("launch call", time_or_unknown(call) + (is_device ? "" : compared_text(call, median)));
    field("launch-to-start latency", time_or_unknown(measure(model::ReplayMeasure::LaunchLatency)));
    field("gap since previous", time_or_unknown(series.gap[index]));
    const trace::Time from = series.replays[0].launched, at = replay.launched;
    if (from != 0 && at != 0)
      field("launched", duration_text(static_cast<double>(at - from)) + " after the first launch");
    field("queue", document.queue_name(replay.queue));
    if (replay.exec != 0) field("instantiation", count_text(replay.exec));
    const std::string source = measured_by(entry, replay);
    field("sampled", replay.sampled == 0 ? "no" : source.empty() ? "yes" : source);
  }
  ImGui::EndTooltip();
}

}  // namespace reprise::viewer

#include "panels/replays/replays_tooltip.hpp"

#include <cstdio>

#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string time_or_unknown(trace::Time time) {
  return time < 0 ? "unknown" : duration_text(static_cast<double>(time));
}

std::string against(trace::Time time, trace::Time median) {
  if (time < 0 || median <= 0) return {};
  return "  (" + change_text(static_cast<double>(time) / static_cast<double>(median) - 1) +
         " of the median)";
}

}  // namespace

void draw_replay_tooltip(const Theme& theme, const ReplayTooltip& tooltip) {
  const auto& [series, bar, place, median, entry] = tooltip;
  ImGui::BeginTooltip();
  const float value_x = 110 * theme.scale;
  const auto field = [&](const char* name, const std::string& value) {
    draw_field(theme, name, value, value_x);
  };
  const bool is_device = series.main.what() == ReplayValue::DeviceTime;
  if (bar.end - bar.first > 1) {
    const ReplayRun& run = bar.run;
    const auto number = [&](std::size_t i) { return count_text(series.replays[i].replay); };
    ImGui::TextUnformatted((count_text(bar.end - bar.first) + " replays: " + number(bar.first) +
                            " to " + number(bar.end - 1))
                               .c_str());
    ImGui::Separator();
    field("least", time_or_unknown(run.least));
    field("median", time_or_unknown(run.median) + against(run.median, median));
    if (run.known != 0)
      field("most", time_or_unknown(run.greatest) + against(run.greatest, median) + ", replay " +
                        number(run.greatest_at));
    if (run.sampled != 0) field("sampled", count_text(run.sampled));
    if (run.known != bar.end - bar.first)
      field("without a time", count_text(bar.end - bar.first - run.known));
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted("A click shows the slowest of them. Zoom in for each.");
    ImGui::PopStyleColor();
  } else {
    const trace::Replay& replay = series.replays[place];
    ImGui::TextUnformatted(("replay " + count_text(replay.replay)).c_str());
    ImGui::Separator();
    const auto of = [&](model::ReplayMeasure what) { return model::measure(replay, what); };
    const trace::Time device = of(model::ReplayMeasure::DeviceTime),
                      call = of(model::ReplayMeasure::LaunchCall);
    field("device time", time_or_unknown(device) + (is_device ? against(device, median) : ""));
    field("launch call", time_or_unknown(call) + (is_device ? "" : against(call, median)));
    field("latency", time_or_unknown(of(model::ReplayMeasure::Latency)));
    field("gap before", time_or_unknown(series.gap[place]));
    const trace::Time from = series.replays[0].launched, at = replay.launched;
    if (from != 0 && at != 0)
      field("launched", duration_text(static_cast<double>(at - from)) + " after the first");
    field("queue, exec", std::to_string(replay.queue) + ", " + std::to_string(replay.exec));
    const std::string how = measured_by(entry, replay);
    field("sampled", replay.sampled == 0
                         ? "no"
                         : (how.empty() ? "yes" : how) + ": its nodes are in the timeline");
  }
  ImGui::EndTooltip();
}

}  // namespace reprise::viewer

#include "panels/replays/replays_table.hpp"

#include <algorithm>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

void header(const Theme& theme, const char* text) {
  ImGui::TableNextColumn();
  text_right(text, theme.ink_soft);
}

void row(const Theme& theme, const char* name, const char* explanation,
         const model::ReplayStatistics& s) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(name);
  tooltip(explanation);
  ImGui::PushFont(theme.mono);
  const auto cell = [&](double time) {
    ImGui::TableNextColumn();
    text_right(s.count == 0 ? "-" : duration_text(time),
               s.count == 0 ? theme.ink_faint : theme.ink);
  };
  cell(static_cast<double>(s.median));
  cell(static_cast<double>(s.p90));
  cell(static_cast<double>(s.p99));
  cell(static_cast<double>(s.max));
  cell(s.mean);
  ImGui::TableNextColumn();
  text_right(count_text(s.count), theme.ink);
  ImGui::TableNextColumn();
  text_right(count_text(s.outliers.size()), s.outliers.empty() ? theme.ink_faint : theme.warning);
  ImGui::TableNextColumn();
  text_right(count_text(s.unknown), s.unknown == 0 ? theme.ink_faint : theme.error);
  ImGui::PopFont();
}

}  // namespace

void draw_replay_table(const Theme& theme, const RangeViewModel& view_model) {
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_PadOuterX;
  if (!ImGui::BeginTable("quantiles", 9, kFlags)) return;
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1.5f);
  for (int i = 1; i < 6; ++i) ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 1.1f);
  for (int i = 6; i < 9; ++i)
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 0.85f);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  for (const char* name : {"p50", "p90", "p99", "max", "mean", "replays", "outliers", "no time"})
    header(theme, name);
  row(theme, "device time", "From start to end on the device.", view_model.device);
  row(theme, "launch call", "Duration of the launch call on its thread.", view_model.launch);
  row(theme, "latency",
      "From the launch call to the start on the device, including the time in the queue.",
      view_model.latency);
  ImGui::EndTable();
}

}  // namespace reprise::viewer

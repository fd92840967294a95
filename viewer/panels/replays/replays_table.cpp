#include "panels/replays/replays_table.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "panels/widgets/format.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr TableColumn kIntervalColumns[] = {{"interval", "", 3.4f},
                                            {"p50", "", 1.1f, ColumnAlign::Right, "ns"},
                                            {"p90", "", 1.1f, ColumnAlign::Right, "ns"},
                                            {"p99", "", 1.1f, ColumnAlign::Right, "ns"},
                                            {"max", "", 1.1f, ColumnAlign::Right, "ns"},
                                            {"mean", "", 1.1f, ColumnAlign::Right, "ns"},
                                            {"replays", "", 0.92f, ColumnAlign::Right},
                                            {"outliers", "", 0.92f, ColumnAlign::Right},
                                            {"untimed", "", 0.92f, ColumnAlign::Right}};
constexpr TableColumn kNarrowColumns[] = {kIntervalColumns[0], kIntervalColumns[1],
                                          kIntervalColumns[3], kIntervalColumns[7]};
constexpr std::size_t kNarrowIndices[] = {0, 1, 3, 7};
constexpr float kFullWidth = 540;  // points; a narrower table shows fewer columns

struct Interval {
  const char *name, *explanation;
  const model::ReplayStatistics& statistics;
};

TableCell interval_cell(const Theme& theme, const Interval& of, std::size_t column) {
  const model::ReplayStatistics& s = of.statistics;
  const auto time = [&](double value) {
    return s.count == 0 ? TableCell{.prefix = "-", .colour = theme.ink_faint} : time_cell(value);
  };
  switch (column) {
    case 0: return {.text = of.name, .note = of.explanation};
    case 1: return time(static_cast<double>(s.median));
    case 2: return time(static_cast<double>(s.p90));
    case 3: return time(static_cast<double>(s.p99));
    case 4: return time(static_cast<double>(s.max));
    case 5: return time(s.mean);
    case 6: return count_cell(s.count);
    case 7:
      return count_cell(s.outliers.size(), s.outliers.empty() ? theme.ink_faint : theme.warning);
    default: return count_cell(s.unknown, s.unknown == 0 ? theme.ink_faint : theme.error);
  }
}

}  // namespace

void draw_replay_table(const Theme& theme, ViewState& view, const ReplaySummary& summary) {
  // Hideable: for the menu.
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_BordersInnerH |
                                     ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_PadOuterX |
                                     ImGuiTableFlags_Hideable;
  const std::array<Interval, 3> intervals{
      {{"device time", "From start to end on the device.", summary.device_time},
       {"launch call", "Duration of the launch call on its thread.", summary.launch_call},
       {"launch-to-start latency",
        "From the start of the launch call to the start on the device, including the time in the "
        "queue.",
        summary.launch_latency}}};
  const bool is_narrow = ImGui::GetContentRegionAvail().x < kFullWidth * theme.scale;
  const std::span<const TableColumn> columns =
      is_narrow ? std::span<const TableColumn>(kNarrowColumns) : kIntervalColumns;
  const TableContents contents{.name = "replay-statistics",
                               .columns = columns,
                               .rows = intervals.size(),
                               .cell = [&](std::size_t row, std::size_t column) {
                                 TableCell cell =
                                     interval_cell(theme, intervals[row],
                                                   is_narrow ? kNarrowIndices[column] : column);
                                 cell.is_mono = column != 0;
                                 return cell;
                               }};
  if (!ImGui::BeginTable("quantiles", static_cast<int>(columns.size()), kFlags)) return;
  draw_table_menu(view);
  for (const TableColumn& column : columns)
    ImGui::TableSetupColumn(column.name, ImGuiTableColumnFlags_WidthStretch, column.characters);
  ImGui::TableNextRow();
  for (std::size_t column = 1; column < columns.size(); ++column) {
    if (ImGui::TableSetColumnIndex(static_cast<int>(column)))
      text_right(columns[column].name, theme.ink_soft);
  }
  for (std::size_t row = 0; row < contents.rows; ++row) {
    ImGui::TableNextRow();
    draw_cells(theme, contents, row);
  }
  end_table(view, contents);
}

std::string replays_csv(const model::Document& document,
                        const model::ListView<trace::Replay>& replays,
                        const model::ReplayRange& range) {
  static constexpr TableColumn kReplayColumns[] = {{"replay", ""},
                                                   {"launched", "", 0, ColumnAlign::Right, "ns"},
                                                   {"device time", "", 0, ColumnAlign::Right, "ns"},
                                                   {"launch call", "", 0, ColumnAlign::Right, "ns"},
                                                   {"latency", "", 0, ColumnAlign::Right, "ns"},
                                                   {"gap", "", 0, ColumnAlign::Right, "ns"},
                                                   {"sampled", ""}};
  const std::size_t first = std::min(range.first, replays.size()),
                    end = first + std::min(range.count, replays.size() - first);
  std::vector<std::size_t> rows;
  for (std::size_t i = first; i < end; ++i) {
    if (model::admits(range, replays[i])) rows.push_back(i);
  }
  const auto known = [](trace::Time time) {
    return time < 0 ? TableCell{} : TableCell{.number = static_cast<double>(time)};
  };
  const TableContents contents{
      .name = "replays",
      .columns = kReplayColumns,
      .rows = rows.size(),
      .cell = [&](std::size_t row, std::size_t column) -> TableCell {
        const std::size_t at = rows[row];
        const trace::Replay& replay = replays[at];
        switch (column) {
          case 0: return {.text = std::to_string(replay.replay)};
          case 1: return known(replay.launched == 0 ? -1 : replay.launched - document.first);
          case 2: return known(model::measure(replay, model::ReplayMeasure::DeviceTime));
          case 3: return known(model::measure(replay, model::ReplayMeasure::LaunchCall));
          case 4: return known(model::measure(replay, model::ReplayMeasure::LaunchLatency));
          case 5:
            return known(model::gap_since_previous(replay, at == 0 ? 0 : replays[at - 1].ended));
          default: return {.text = replay.sampled != 0 ? "yes" : "no"};
        }
      }};
  return csv_text(contents, std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

}  // namespace reprise::viewer

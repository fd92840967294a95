// The legend line above the replay strip: the drawn value, colours, marks and the selected range.
// Threads: drawing thread only.
#pragma once

#include <string>

#include "model/sample_sources.hpp"
#include "panels/replays/replays_series.hpp"
#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct ReplaysLegend {
  ReplayValue value = ReplayValue::DeviceTime;
  std::size_t replays = 0;
  std::string selected;                           // right-aligned; empty: no range is selected
  const model::SampleSources* sources = nullptr;  // null: unknown
};
// Omits items that do not fit into `width`, from the right. Does not move the ImGui cursor.
void draw_replays_legend(const Theme& theme, ImVec2 at, float width, const ReplaysLegend& legend);

}  // namespace reprise::viewer

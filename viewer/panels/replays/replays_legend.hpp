// The line above the strip of replays: what is drawn, what its colours and marks mean, and what is
// chosen. Threads: the drawing thread's.
#pragma once

#include <string>

#include "model/sample_sources.hpp"
#include "panels/replays/replays_series.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct ReplaysLegend {
  ReplayValue what = ReplayValue::DeviceTime;
  std::size_t replays = 0;
  std::string chosen;                             // at the right end; empty: nothing is
  const model::SampleSources* sources = nullptr;  // null: nobody knows
};
// In `width`; what does not fit is left out, from the right. Leaves the cursor alone.
void draw_replays_legend(const Theme& theme, ImVec2 at, float width, const ReplaysLegend& legend);

}  // namespace reprise::viewer

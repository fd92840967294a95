// The quantiles of device time, launch call and latency, as a table. Threads: the drawing thread's.
#pragma once

#include "panels/replays/replays_view_model.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

void draw_replay_table(const Theme& theme, const RangeViewModel& view_model);

}  // namespace reprise::viewer

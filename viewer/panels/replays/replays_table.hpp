// A table of quantiles of device time, launch call and latency. Threads: drawing thread only.
#pragma once

#include "panels/replays/replays_view_model.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

void draw_replay_table(const Theme& theme, const RangeViewModel& view_model);

}  // namespace reprise::viewer

// The quantiles of device time, launch call and latency, as a table. Threads: the drawing thread's.
#pragma once

#include "panels/replays_facts.hpp"
#include "panels/theme.hpp"

namespace reprise::viewer {

void draw_replay_table(const Theme& theme, const RangeFacts& facts);

}  // namespace reprise::viewer

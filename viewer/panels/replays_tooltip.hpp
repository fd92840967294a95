// What the mouse says over the strip of replays. Threads: the drawing thread's.
#pragma once

#include "panels/replays_bars.hpp"
#include "panels/replays_data.hpp"

namespace reprise::viewer {

// Over a bar; `place` is the replay below the mouse. `median`: of the main series, or below 0.
void draw_replay_tooltip(const Theme& theme, const ReplaysSeries& series, const ReplayBar& bar, std::size_t place, trace::Time median);

}  // namespace reprise::viewer

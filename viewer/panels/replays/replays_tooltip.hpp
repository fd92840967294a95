// What the mouse says over the strip of replays. Threads: the drawing thread's.
#pragma once

#include "panels/replays/replays_bars.hpp"
#include "panels/replays/replays_data.hpp"

namespace reprise::viewer {

// Over a bar; `place` is the replay below the mouse. `median`: of the main series, or below 0.
struct ReplayTooltip {
  const ReplaysSeries& series;
  const ReplayBar& bar;
  std::size_t place = 0;
  trace::Time median = -1;
  const model::GraphEntry& entry;
};
void draw_replay_tooltip(const Theme& theme, const ReplayTooltip& tooltip);

}  // namespace reprise::viewer

// The tooltip of the replay strip. Threads: drawing thread only.
#pragma once

#include "panels/replays/replays_bars.hpp"
#include "panels/replays/replays_data.hpp"

namespace reprise::viewer {

// `index`: the replay under the mouse. `median`: median of the main series; negative: unknown.
struct ReplayTooltip {
  const ReplaysSeries& series;
  const ReplayBar& bar;
  std::size_t index = 0;
  trace::Time median = -1;
  const model::GraphEntry& entry;
  const model::Document& document;
  const RankSeries* ranks = nullptr;  // null: there is one rank
};
void draw_replay_tooltip(const Theme& theme, const ReplayTooltip& tooltip);

}  // namespace reprise::viewer

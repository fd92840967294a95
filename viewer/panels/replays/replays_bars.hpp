// The bars of the replay strip. A bar shows one replay if the zoom permits, else a run of replays
// with their min, median and max; every replay belongs to a bar. Performs no drawing. Threads: pure
// functions.
#pragma once

#include <vector>

#include "panels/replays/replays_series.hpp"

namespace reprise::viewer {

struct ReplayBar {
  std::size_t first = 0, end = 0;  // indices into the replay list
  ReplayRun run;
};

// The number of replays per bar, a power of two.
[[nodiscard]] std::size_t bar_length(const ReplaySeries& series, double zoom);
// The bars that overlap the indices [left, right), at `zoom` screen points per replay. A bar is at
// least one point wide and starts at a multiple of its length, so panning does not change bars.
[[nodiscard]] std::vector<ReplayBar> replay_bars(const ReplaySeries& series, double left,
                                                 double right, double zoom);

// The upper end of the time axis, ns: fits all visible values except outliers, which are clipped
// and marked. `max` is the maximum of the visible bars; `median`, `p99` and `fence` cover all
// replays.
[[nodiscard]] double axis_max(trace::Time max, trace::Time median, trace::Time p99,
                              trace::Time fence);

}  // namespace reprise::viewer

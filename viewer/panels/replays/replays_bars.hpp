// What the strip of replays draws of a series: a bar a replay where there is room, and where there
// is not, a bar for each run of replays, with its least, median and greatest value: nothing is left
// out. Draws nothing itself. Threads: pure functions.
#pragma once

#include <vector>

#include "panels/replays/replays_series.hpp"

namespace reprise::viewer {

struct ReplayBar {
  std::size_t first = 0, end = 0;  // places
  ReplayRun run;
};

// How many replays a bar stands for: a power of two.
[[nodiscard]] std::size_t bar_length(const ReplaySeries& series, double zoom);
// Of the places that touch [left, right), at `zoom` screen points a place. A bar is at least one
// point wide, and stands at multiples of its count, so that it stays the same bar while the picture
// moves.
[[nodiscard]] std::vector<ReplayBar> replay_bars(const ReplaySeries& series, double left,
                                                 double right, double zoom);

// What the top of the picture stands for, in ns: so high that all but outliers fit, and never
// higher than the greatest of [left, right). An outlier above it is drawn to the top and marked.
// `median`, `p99`, `fence` of all replays.
[[nodiscard]] double top_of(trace::Time greatest, trace::Time median, trace::Time p99,
                            trace::Time fence);

}  // namespace reprise::viewer

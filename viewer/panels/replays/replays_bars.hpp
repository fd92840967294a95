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

// The time axis of a strip, from 0 to `top` ns. Linear up to `knee` and logarithmic above it; the
// linear part is the lower half. A linear axis has its knee at the top.
struct StripAxis {
  double knee = 1, top = 1;
  [[nodiscard]] bool is_linear() const noexcept { return knee >= top; }
  // From 0 at the base line to 1 at `top`, where longer times are clipped.
  [[nodiscard]] double position(double time) const noexcept;
};
// Fits all visible values except outliers, which are clipped and marked. `max` is the maximum of
// the visible bars; `median`, `p99` and `fence` cover all replays. Logarithmic above twice the
// median if a linear axis would leave less than a quarter of its height to the median.
[[nodiscard]] StripAxis strip_axis(trace::Time max, trace::Time median, trace::Time p99,
                                   trace::Time fence);

}  // namespace reprise::viewer

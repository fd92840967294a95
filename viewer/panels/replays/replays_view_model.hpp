// Statistics for the replays panel: a histogram of a range, quantiles of a series, and the replays
// with a given duration. Threads: pure functions; workers call them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_statistics.hpp"
#include "panels/replays/replays_series.hpp"

namespace reprise::viewer {

// Bins of equal width from the minimum to the outlier fence, plus an overflow bin for outliers.
struct DurationBins {
  model::ReplayMeasure measure = model::ReplayMeasure::DeviceTime;
  double lowest = 0, width = 1;  // ns
  std::vector<std::size_t> bins;
  std::size_t overflow = 0;   // number of values above the last bin
  double max = 0;             // ns, of all values
  std::size_t max_count = 0;  // of all bins including the overflow bin
};
// The bins of the replays at the indices of `range`, of any duration. `series`: device times or
// launch calls.
[[nodiscard]] DurationBins duration_bins(const ReplaySeries& series, model::ReplayRange range,
                                         std::size_t bins);

// Quantiles of a whole series, ns; negative if no replay has a value.
struct SeriesSummary {
  trace::Time median = -1, p99 = -1;
  trace::Time fence = 0;  // values above it are outliers
};
[[nodiscard]] SeriesSummary summarise(const ReplaySeries& series);

// The replays of a range with its durations.
struct Matches {
  std::vector<std::uint32_t> indices;  // into the replay list, ascending
  // True if any match lies in [first, end).
  [[nodiscard]] bool any(std::size_t first, std::size_t end) const;
};
[[nodiscard]] Matches matching_replays(const model::ListView<trace::Replay>& replays,
                                       const model::ReplayRange& range);

}  // namespace reprise::viewer

// What the panel of replays counts, beside the series themselves: quantiles and a histogram of a
// range, and which replays took a given time. Threads: pure functions, for the background; values.
#pragma once

#include <cstdint>
#include <vector>

#include "model/replay_statistics.hpp"
#include "panels/replays/replays_series.hpp"

namespace reprise::viewer {

// Equal bins from the least value to where outliers begin, and what lies above in one more.
struct DurationBins {
  double lowest = 0, width = 1;  // ns
  std::vector<std::size_t> bins;
  std::size_t above = 0;  // more than the last bin holds
  double greatest = 0;    // of those above
  std::size_t most = 0;   // in one bin
};
[[nodiscard]] DurationBins duration_bins(const ReplaySeries& series, model::ReplayRange range,
                                         std::size_t bins);

// Of all of a series, in ns; below 0: nothing is known.
struct SeriesFigures {
  trace::Time median = -1, p99 = -1;
  trace::Time fence = 0;  // above it is far out
};
[[nodiscard]] SeriesFigures series_figures(const ReplaySeries& series);

struct RangeViewModel {
  model::ReplayStatistics device, launch, latency;  // without histograms
  DurationBins histogram;                           // of the series
};
[[nodiscard]] RangeViewModel range_view_model(const model::ListView<trace::Replay>& replays,
                                              const ReplaySeries& series, model::ReplayRange range);

// The replays of a range whose value lies in [least, greatest].
struct Matches {
  std::vector<std::uint32_t> places;                                 // ascending
  [[nodiscard]] bool any(std::size_t first, std::size_t end) const;  // in [first, end)
  [[nodiscard]] bool is_contiguous() const noexcept {
    return !places.empty() && places.back() - places.front() + 1 == places.size();
  }
};
[[nodiscard]] Matches matching_replays(const ReplaySeries& series, model::ReplayRange range,
                                       double least, double greatest);

}  // namespace reprise::viewer

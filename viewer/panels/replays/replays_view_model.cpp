#include "panels/replays/replays_view_model.hpp"

#include <algorithm>

#include "base/quantile_rank.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

struct IndexRange {
  std::size_t first = 0, end = 0;
};

std::vector<Time> known_values(const ReplaySeries& series, std::size_t first, std::size_t end) {
  std::vector<Time> values;
  values.reserve(end - first);
  for (std::size_t i = first; i < end; ++i) {
    if (series[i] >= 0) values.push_back(series[i]);
  }
  return values;
}

// Tukey's outer fence: the third quartile plus three interquartile ranges.
Time outer_fence(std::vector<Time>& values) {
  const Time low = detail::quantile_of(values, 0.25), high = detail::quantile_of(values, 0.75);
  return high + 3 * (high - low);
}

IndexRange clamp_range(model::ReplayRange range, std::size_t size) {
  const std::size_t first = std::min(range.first, size);
  return {first, first + std::min(range.count, size - first)};
}

}  // namespace

DurationBins duration_bins(const ReplaySeries& series, model::ReplayRange range, std::size_t bins) {
  DurationBins h;
  h.measure = series.value() == ReplayValue::LaunchCall ? model::ReplayMeasure::LaunchCall
                                                        : model::ReplayMeasure::DeviceTime;
  const auto [first, end] = clamp_range(range, series.size());
  std::vector<Time> values = known_values(series, first, end);
  if (values.empty() || bins == 0) return h;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Time min = *low, max = *high;
  const Time fence = std::max(outer_fence(values), detail::quantile_of(values, 0.99));
  const Time highest = std::min(max, fence);
  h.lowest = static_cast<double>(min);
  h.max = static_cast<double>(max);
  h.bins.resize(bins);
  // A whole number of nanoseconds, so that all bins cover equally many values.
  h.width = static_cast<double>(std::max<Time>((highest - min) / static_cast<Time>(bins) + 1, 1));
  for (const Time t : values) {
    const auto bin = static_cast<std::size_t>((static_cast<double>(t) - h.lowest) / h.width);
    if (bin < bins) {
      ++h.bins[bin];
    } else {
      ++h.overflow;
    }
  }
  h.max_count = std::max(*std::max_element(h.bins.begin(), h.bins.end()), h.overflow);
  return h;
}

SeriesSummary summarise(const ReplaySeries& series) {
  std::vector<Time> values = known_values(series, 0, series.size());
  if (values.empty()) return {};
  SeriesSummary summary;
  summary.median = detail::quantile_of(values, 0.5);
  summary.p99 = detail::quantile_of(values, 0.99);
  // Values within 10 % of the median are no outliers, however narrow the distribution.
  summary.fence = std::max(outer_fence(values), summary.median + summary.median / 10);
  return summary;
}

bool Matches::any(std::size_t first, std::size_t end) const {
  const auto found = std::lower_bound(indices.begin(), indices.end(), first);
  return found != indices.end() && *found < end;
}

Matches matching_replays(const model::ListView<trace::Replay>& replays,
                         const model::ReplayRange& range) {
  Matches matches;
  const auto [first, end] = clamp_range(range, replays.size());
  for (std::size_t i = first; i < end; ++i) {
    if (admits(range, replays[i])) matches.indices.push_back(static_cast<std::uint32_t>(i));
  }
  return matches;
}

}  // namespace reprise::viewer

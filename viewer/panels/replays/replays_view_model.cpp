#include "panels/replays/replays_view_model.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

using trace::Time;

namespace {

struct CutPlaces {
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

// By nearest rank; changes the order of the values.
Time quantile(std::vector<Time>& values, double part) {
  const double rank = std::ceil(part * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Tukey's far fence: the third quartile and 3 quartile distances.
Time far_fence(std::vector<Time>& values) {
  const Time low = quantile(values, 0.25), high = quantile(values, 0.75);
  return high + 3 * (high - low);
}

CutPlaces cut(model::ReplayRange range, std::size_t size) {
  const std::size_t first = std::min(range.first, size);
  return {first, first + std::min(range.count, size - first)};
}

}  // namespace

DurationBins duration_bins(const ReplaySeries& series, model::ReplayRange range, std::size_t bins) {
  DurationBins h;
  const auto [first, end] = cut(range, series.size());
  std::vector<Time> values = known_values(series, first, end);
  if (values.empty() || bins == 0) return h;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const Time least = *low, greatest = *high;
  const Time fence = std::max(far_fence(values), quantile(values, 0.99));
  const Time highest = std::min(greatest, fence);
  h.lowest = static_cast<double>(least);
  h.greatest = static_cast<double>(greatest);
  h.bins.resize(bins);
  // Whole nanoseconds, so that a bin holds as many values as its neighbour could.
  h.width = static_cast<double>(std::max<Time>((highest - least) / static_cast<Time>(bins) + 1, 1));
  for (const Time t : values) {
    const auto bin = static_cast<std::size_t>((static_cast<double>(t) - h.lowest) / h.width);
    if (bin < bins) {
      ++h.bins[bin];
    } else {
      ++h.above;
    }
  }
  h.most = std::max(*std::max_element(h.bins.begin(), h.bins.end()), h.above);
  return h;
}

SeriesFigures series_figures(const ReplaySeries& series) {
  std::vector<Time> values = known_values(series, 0, series.size());
  if (values.empty()) return {};
  SeriesFigures figures;
  figures.median = quantile(values, 0.5);
  figures.p99 = quantile(values, 0.99);
  // A few per cent above the rest are not far out, however little the rest differs.
  figures.fence = std::max(far_fence(values), figures.median + figures.median / 10);
  return figures;
}

RangeViewModel range_view_model(const model::ListView<trace::Replay>& replays,
                                const ReplaySeries& series, model::ReplayRange range) {
  RangeViewModel view_model;
  view_model.device = model::replay_statistics(replays, model::ReplayMeasure::DeviceTime, range);
  view_model.launch = model::replay_statistics(replays, model::ReplayMeasure::LaunchCall, range);
  view_model.latency = model::replay_statistics(replays, model::ReplayMeasure::Latency, range);
  view_model.histogram = duration_bins(series, range, 80);
  return view_model;
}

bool Matches::any(std::size_t first, std::size_t end) const {
  const auto found = std::lower_bound(places.begin(), places.end(), first);
  return found != places.end() && *found < end;
}

Matches matching_replays(const ReplaySeries& series, model::ReplayRange range, double least,
                         double greatest) {
  Matches matches;
  const auto [first, end] = cut(range, series.size());
  for (std::size_t i = first; i < end; ++i) {
    const auto value = static_cast<double>(series[i]);
    if (series[i] >= 0 && value >= least && value <= greatest)
      matches.places.push_back(static_cast<std::uint32_t>(i));
  }
  return matches;
}

}  // namespace reprise::viewer

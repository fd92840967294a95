#include "panels/replays_facts.hpp"

#include <algorithm>

namespace reprise::viewer {

using trace::Time;

namespace {

struct Places {
  std::size_t first = 0, end = 0;
};

Places cut(model::ReplayRange range, std::size_t size) {
  const std::size_t first = std::min(range.first, size);
  return {first, first + std::min(range.count, size - first)};
}

}  // namespace

DurationHistogram duration_histogram(const ReplaySeries& series, model::ReplayRange range, std::size_t bins) {
  DurationHistogram h;
  const auto [first, end] = cut(range, series.size());
  std::vector<Time> values;
  for (std::size_t i = first; i < end; ++i) {
    if (series[i] >= 0) values.push_back(series[i]);
  }
  if (values.empty() || bins == 0) return h;
  const auto rank = [&](double part) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  const Time low_quarter = rank(0.25), high_quarter = rank(0.75), most_of_all = rank(0.99);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const Time fence = std::max<Time>(high_quarter + 3 * (high_quarter - low_quarter), most_of_all);
  const Time highest = std::min(*greatest, fence);
  h.lowest = static_cast<double>(*least);
  h.greatest = static_cast<double>(*greatest);
  h.bins.resize(bins);
  // Whole nanoseconds, so that a bin holds as many values as its neighbour could.
  h.width = static_cast<double>(std::max<Time>((highest - *least) / static_cast<Time>(bins) + 1, 1));
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

RangeFacts range_facts(const model::ListView<trace::Replay>& replays, const ReplaySeries& series, model::ReplayRange range) {
  RangeFacts facts;
  facts.device = model::replay_statistics(replays, model::ReplayMeasure::DeviceTime, range, 0);
  facts.launch = model::replay_statistics(replays, model::ReplayMeasure::LaunchCall, range, 0);
  facts.latency = model::replay_statistics(replays, model::ReplayMeasure::Latency, range, 0);
  facts.histogram = duration_histogram(series, range, 80);
  return facts;
}

bool Matches::any(std::size_t first, std::size_t end) const {
  const auto found = std::lower_bound(places.begin(), places.end(), first);
  return found != places.end() && *found < end;
}

Matches matching_replays(const ReplaySeries& series, model::ReplayRange range, double least, double greatest) {
  Matches matches;
  const auto [first, end] = cut(range, series.size());
  for (std::size_t i = first; i < end; ++i) {
    const auto value = static_cast<double>(series[i]);
    if (series[i] >= 0 && value >= least && value <= greatest) matches.places.push_back(static_cast<std::uint32_t>(i));
  }
  return matches;
}

}  // namespace reprise::viewer

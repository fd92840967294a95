#include "model/replay_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::model {

using trace::Time;

Time measure(const trace::Replay& r, ReplayMeasure what) noexcept {
  const auto between = [](Time from, Time to) {
    return from == 0 || to == 0 || to < from ? Time{-1} : to - from;
  };
  switch (what) {
    case ReplayMeasure::DeviceTime: return between(r.started, r.ended);
    case ReplayMeasure::LaunchCall: return between(r.launched, r.launch_returned);
    case ReplayMeasure::Latency: break;
  }
  return between(r.launched, r.started);
}

ReplayStatistics replay_statistics(const ListView<trace::Replay>& replays, ReplayMeasure what,
                                   ReplayRange range) {
  ReplayStatistics s;
  std::vector<std::pair<Time, std::size_t>> values;
  const std::size_t first = std::min(range.first, replays.size());
  const std::size_t count = std::min(range.count, replays.size() - first);
  for (std::size_t i = first; i < first + count; ++i) {
    if (const Time t = measure(replays[i], what); t >= 0) values.emplace_back(t, i);
  }
  s.count = values.size();
  s.unknown = count - values.size();
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[std::max<std::size_t>(
                      static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))),
                      1) -
                  1]
        .first;
  };
  s.min = values.front().first;
  s.p10 = quantile(0.1);
  s.median = quantile(0.5);
  s.p90 = quantile(0.9);
  s.p99 = quantile(0.99);
  s.max = values.back().first;
  for (const auto& [t, i] : values)
    s.mean += static_cast<double>(t) / static_cast<double>(values.size());
  s.outlier_above = quantile(0.75) + 3 * (quantile(0.75) - quantile(0.25));
  for (auto v = values.rbegin(); v != values.rend() && v->first > s.outlier_above; ++v)
    s.outliers.push_back(v->second);
  return s;
}

}  // namespace reprise::model

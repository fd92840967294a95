#include "model/replay_statistics.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quantile_rank.hpp"

namespace reprise::model {

using trace::Time;

Time measure(const trace::Replay& r, ReplayMeasure what) noexcept {
  const auto between = [](Time from, Time to) {
    return from == 0 || to == 0 || to < from ? Time{-1} : to - from;
  };
  switch (what) {
    case ReplayMeasure::DeviceTime: return between(r.started, r.ended);
    case ReplayMeasure::LaunchCall: return between(r.launched, r.launch_returned);
    case ReplayMeasure::LaunchLatency: break;
  }
  return between(r.launched, r.started);
}

bool admits(const ReplayRange& range, const trace::Replay& replay) noexcept {
  if (!range.durations) return true;
  const DurationBounds& bounds = *range.durations;
  const Time time = measure(replay, bounds.measure);
  if (time < 0) return false;
  const auto value = static_cast<double>(time);
  const bool is_inside = value >= bounds.min && value <= bounds.max;
  return is_inside == (bounds.admitted == Durations::Inside);
}

Time gap_since_previous(const trace::Replay& replay, Time previous_ended) noexcept {
  return replay.started == 0 || previous_ended == 0
             ? Time{-1}
             : std::max<Time>(replay.started - previous_ended, 0);
}

std::size_t count_sampled(const ListView<trace::Replay>& replays, const ReplayRange& range) {
  std::size_t count = 0;
  for_each_replay(replays, range, [&](std::size_t, const trace::Replay& replay) {
    count += replay.sampled != 0 ? 1 : 0;
  });
  return count;
}

ReplayStatistics replay_statistics(const std::vector<Time>& all) {
  ReplayStatistics s;
  std::vector<std::pair<Time, std::size_t>> values;
  values.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] >= 0) values.emplace_back(all[i], i);
  }
  s.count = values.size();
  s.unknown = all.size() - values.size();
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[detail::quantile_rank(q, values.size())].first;
  };
  s.min = values.front().first;
  s.p10 = quantile(0.1);
  s.median = quantile(0.5);
  s.p90 = quantile(0.9);
  s.p99 = quantile(0.99);
  s.max = values.back().first;
  for (const auto& [t, i] : values) s.total += static_cast<double>(t);
  s.mean = s.total / static_cast<double>(values.size());
  // Saturates: a damaged trace can have any durations.
  const Time spread = quantile(0.75) - quantile(0.25);
  Time above = 0;
  if (__builtin_mul_overflow(spread, Time{3}, &above) ||
      __builtin_add_overflow(above, quantile(0.75), &s.outlier_above))
    s.outlier_above = std::numeric_limits<Time>::max();
  for (auto v = values.rbegin(); v != values.rend() && v->first > s.outlier_above; ++v)
    s.outliers.push_back(v->second);
  return s;
}

ReplayStatistics replay_statistics(const ListView<trace::Replay>& replays, ReplayMeasure what,
                                   ReplayRange range) {
  std::vector<Time> values;
  std::vector<std::size_t> indices;
  for_each_replay(replays, range, [&](std::size_t i, const trace::Replay& replay) {
    values.push_back(measure(replay, what));
    indices.push_back(i);
  });
  ReplayStatistics s = replay_statistics(values);
  for (std::size_t& outlier : s.outliers) outlier = indices[outlier];
  return s;
}

}  // namespace reprise::model

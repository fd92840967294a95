#include "panels/replays/replays_series.hpp"

#include <algorithm>
#include <bit>

#include "base/quantile_rank.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

template <class Values>
ReplayRun run_of(const Values& values, std::size_t first, std::size_t end) {
  ReplayRun run;
  std::vector<Time> known;
  known.reserve(end - first);
  for (std::size_t i = first; i < end; ++i) {
    const auto& value = values[i];
    run.sampled += value.sampled ? 1 : 0;
    if (value.time < 0) continue;
    known.push_back(value.time);
    if (run.min < 0 || value.time < run.min) run.min = value.time;
    if (value.time > run.max) {
      run.max = value.time;
      run.max_index = static_cast<std::uint32_t>(i);
    }
  }
  run.known = static_cast<std::uint32_t>(known.size());
  if (known.empty()) return run;
  run.median = detail::quantile_of(known, 0.5);
  return run;
}

Time value_of(const trace::Replay& replay, ReplayValue value, Time last_ended) {
  switch (value) {
    case ReplayValue::DeviceTime: return model::measure(replay, model::ReplayMeasure::DeviceTime);
    case ReplayValue::LaunchCall: return model::measure(replay, model::ReplayMeasure::LaunchCall);
    case ReplayValue::Latency: return model::measure(replay, model::ReplayMeasure::LaunchLatency);
    case ReplayValue::Gap: break;
  }
  return model::gap_since_previous(replay, last_ended);
}

}  // namespace

ReplayRun ReplaySeries::run(std::size_t first, std::size_t end) const {
  end = std::min(end, size());
  if (first >= end) return {};
  const std::size_t count = end - first;
  if (count >= ReplaySeriesBuilder::kBase && std::has_single_bit(count) && first % count == 0) {
    const auto level =
        static_cast<std::size_t>(std::countr_zero(count / ReplaySeriesBuilder::kBase));
    if (level < levels_.size() && first / count < levels_[level].size())
      return levels_[level][first / count];
  }
  return run_of(values_, first, end);
}

Time ReplaySeries::max(std::size_t first, std::size_t end) const {
  end = std::min(end, size());
  Time result = -1;
  while (first < end) {
    // The largest aligned run that starts at `first` and fits into the range.
    std::size_t count = 1;
    while (first % (count * 2) == 0 && first + count * 2 <= end) count *= 2;
    if (count < ReplaySeriesBuilder::kBase) {
      for (std::size_t i = first; i < first + count; ++i)
        result = std::max(result, values_[i].time);
    } else {
      result = std::max(result, run(first, first + count).max);
    }
    first += count;
  }
  return result;
}

ReplaySeries ReplaySeriesBuilder::extend(const model::ListView<trace::Replay>& replays) {
  const std::size_t size = values_.size();
  const bool is_same =
      size == 0 || (replays.size() >= size && replays[size - 1].replay == last_number_ &&
                    replays[0].replay == first_number_);
  if (!is_same) *this = ReplaySeriesBuilder(value_);
  for (std::size_t i = values_.size(); i < replays.size(); ++i) {
    const trace::Replay& replay = replays[i];
    const Time time = value_of(replay, value_, last_ended_);
    last_ended_ = replay.ended;
    push_back(time, replay.sampled != 0);
  }
  if (!replays.empty()) {
    first_number_ = replays[0].replay;
    last_number_ = replays.back().replay;
  }
  return series();
}

void ReplaySeriesBuilder::push_back(Time time, bool sampled) {
  known_ += time >= 0 ? 1 : 0;
  values_.push_back({time, sampled});
  add_runs();
}

ReplaySeries ReplaySeriesBuilder::series() {
  ReplaySeries all;
  all.value_ = value_;
  all.known_ = known_;
  all.values_ = values_.view();
  for (auto& level : levels_) all.levels_.push_back(level.view());
  return all;
}

// Appends the runs that the last value completes.
void ReplaySeriesBuilder::add_runs() {
  const std::size_t size = values_.size();
  for (std::size_t level = 0, count = kBase; size % count == 0 && count <= size;
       ++level, count *= 2) {
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level].push_back(run_of(values_, size - count, size));
  }
}

}  // namespace reprise::viewer

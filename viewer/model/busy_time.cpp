#include "model/busy_time.hpp"

#include <algorithm>
#include <utility>

namespace reprise::model {

using trace::Time;

void BusyTime::add(Time started, Time ended) {
  if (ended <= started) return;
  if (steps_.empty() || started > steps_.back().at) {
    const Time before = total();
    steps_.push_back({started, 1, before});
    steps_.push_back({ended, 0, before + ended - started});
    max_active_ = 1;
  } else if (Step& last = steps_.back(); ended > last.at) {
    last.before += ended - last.at;
    last.at = ended;
  }
}

BusyTime BusyTime::sum_of(std::span<const BusyTime> rows) {
  std::vector<std::pair<Time, std::int64_t>> changes;
  for (const BusyTime& row : rows) {
    std::int64_t active = 0;
    for (const Step& step : row.steps_) {
      changes.emplace_back(step.at, step.active - active);
      active = step.active;
    }
  }
  std::sort(changes.begin(), changes.end());
  BusyTime sum;
  std::int64_t active = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Time at = changes[i].first;
    const Time before = sum.until(at);
    const std::int64_t active_before = active;
    for (; i < changes.size() && changes[i].first == at; ++i) active += changes[i].second;
    if (active == active_before) continue;
    sum.steps_.push_back({at, static_cast<std::uint32_t>(active), before});
    sum.max_active_ = std::max(sum.max_active_, static_cast<std::uint32_t>(active));
  }
  return sum;
}

const BusyTime::Step* BusyTime::step_at(Time at) const {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                      [](Time t, const Step& step) { return t < step.at; });
  return after == steps_.begin() ? nullptr : &*(after - 1);
}

Time BusyTime::until(Time at) const {
  const Step* const step = step_at(at);
  return step == nullptr ? 0 : step->before + (at - step->at) * Time{step->active};
}

std::uint32_t BusyTime::active_at(Time at) const {
  const Step* const step = step_at(at);
  return step == nullptr ? 0 : step->active;
}

}  // namespace reprise::model

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

std::size_t BusyTime::steps_until(Time at, std::size_t first, std::size_t advance) const {
  std::size_t low = first, high = first, step = advance;
  while (high < steps_.size() && steps_[high].at <= at) {
    low = high + 1;
    high = std::min(steps_.size(), high + step);
    step *= 2;
  }
  const auto after = std::upper_bound(steps_.begin() + static_cast<std::ptrdiff_t>(low),
                                      steps_.begin() + static_cast<std::ptrdiff_t>(high), at,
                                      [](Time t, const Step& s) { return t < s.at; });
  return static_cast<std::size_t>(after - steps_.begin());
}

Time BusyTime::until(Time at, std::size_t steps) const {
  if (steps == 0) return 0;
  const Step& last = steps_[steps - 1];
  return last.before + (at - last.at) * Time{last.active};
}

Time BusyTime::Reader::until(Time at) {
  if (at == at_) return sum_;
  const std::size_t first = at > at_ ? steps_ : 0;
  steps_ = busy_->steps_until(at, first, advance_);
  advance_ = std::max<std::size_t>(steps_ - first, 1);
  at_ = at;
  return sum_ = busy_->until(at, steps_);
}

}  // namespace reprise::model

#include <doctest/doctest.h>

#include <limits>

#include "model/replay_statistics.hpp"

using namespace reprise;

namespace {

model::ListView<trace::Replay> replays(const std::vector<trace::Time>& times) {
  model::GrowingList<trace::Replay> list;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto at = static_cast<trace::Time>(1'000 * (i + 1));
    list.push_back(
        {0, 0, 0, 0, i + 1, at, at + 7, at + 20, times[i] < 0 ? 0 : at + 20 + times[i], 0, 0});
  }
  return list.view();
}

}  // namespace

TEST_CASE("replay statistics: quantiles, unknown times and outliers of a range") {
  std::vector<trace::Time> times;
  for (trace::Time t = 1; t <= 100; ++t) times.push_back(t);
  times.push_back(-1);
  times.push_back(5'000);
  times.push_back(9'000);
  const auto list = replays(times);
  const model::ReplayStatistics s =
      model::replay_statistics(list, model::ReplayMeasure::DeviceTime);
  CHECK(s.count == 102);
  CHECK(s.unknown == 1);
  CHECK(s.min == 1);
  CHECK(s.median == 51);
  CHECK(s.p10 == 11);
  CHECK(s.p90 == 92);
  CHECK(s.p99 == 5'000);
  CHECK(s.max == 9'000);
  CHECK(s.outliers == std::vector<std::size_t>{102, 101});

  const model::ReplayStatistics part =
      model::replay_statistics(list, model::ReplayMeasure::DeviceTime, {9, 11});
  CHECK(part.count == 11);
  CHECK(part.min == 10);
  CHECK(part.median == 15);
  CHECK(part.mean == doctest::Approx(15));
  CHECK(part.outliers.empty());
  CHECK(model::replay_statistics(list, model::ReplayMeasure::LaunchCall).median == 7);
  CHECK(model::replay_statistics(list, model::ReplayMeasure::LaunchLatency).max == 20);
  CHECK(s.total == 5'050 + 14'000);
}

TEST_CASE("replay statistics: durations admit the replays inside or outside their bounds") {
  const auto list = replays({10, 20, -1, 30, 40});
  model::ReplayRange range{.durations = model::DurationBounds{.min = 20, .max = 30}};
  const auto statistics = [&] {
    return model::replay_statistics(list, model::ReplayMeasure::DeviceTime, range);
  };
  CHECK(statistics().count == 2);
  CHECK(statistics().min == 20);
  CHECK(statistics().max == 30);
  CHECK(statistics().unknown == 0);  // an unknown duration is neither inside nor outside
  range.durations->admitted = model::Durations::Outside;
  CHECK(statistics().count == 2);
  CHECK(statistics().min == 10);
  CHECK(statistics().max == 40);
  range.count = 2;
  CHECK(statistics().count == 1);
}

TEST_CASE("replay statistics: equal times have no outliers, an empty range no values") {
  const model::ReplayStatistics s =
      model::replay_statistics(replays({5, 5, 5}), model::ReplayMeasure::DeviceTime);
  CHECK(s.count == 3);
  CHECK(s.outliers.empty());
  CHECK(model::replay_statistics(replays({5}), model::ReplayMeasure::DeviceTime, {7, 1}).count ==
        0);
  CHECK(model::replay_statistics({}, model::ReplayMeasure::DeviceTime).count == 0);
}

TEST_CASE("replay statistics: the longest times that a trace can have saturate") {
  constexpr trace::Time kLongest = 6'000'000'000'000'000'000;
  const model::ReplayStatistics s =
      model::replay_statistics(std::vector<trace::Time>{1, 2, kLongest, kLongest});
  CHECK(s.max == kLongest);
  CHECK(s.outlier_above == std::numeric_limits<trace::Time>::max());
  CHECK(s.outliers.empty());
}

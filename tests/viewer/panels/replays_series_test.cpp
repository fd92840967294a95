#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "model/growing_list.hpp"
#include "panels/replays/replays_bars.hpp"
#include "panels/replays/replays_series.hpp"
#include "panels/replays/replays_view_model.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::make_replay;
using trace::Time;

namespace {

// Replays with random times, some without one, some sampled.
model::GrowingList<trace::Replay> random_replays(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  model::GrowingList<trace::Replay> list;
  for (std::uint64_t number = 1; number <= count; ++number) {
    trace::Replay replay = make_replay(number, static_cast<Time>(random() % 500'000));
    if (random() % 11 == 0) replay.ended = 0;
    replay.sampled = random() % 5 == 0 ? 1 : 0;
    list.push_back(replay);
  }
  return list;
}

// Computes the run directly from the replays.
ReplayRun expected_run(const model::ListView<trace::Replay>& replays, std::size_t first,
                       std::size_t end) {
  ReplayRun run;
  std::vector<Time> known;
  for (std::size_t i = first; i < std::min(end, replays.size()); ++i) {
    run.sampled += replays[i].sampled;
    if (replays[i].ended == 0) continue;
    known.push_back(replays[i].ended - replays[i].started);
    if (known.back() > run.max) {
      run.max = known.back();
      run.max_index = static_cast<std::uint32_t>(i);
    }
  }
  run.known = static_cast<std::uint32_t>(known.size());
  std::sort(known.begin(), known.end());
  if (!known.empty()) run.min = known.front();
  if (!known.empty()) run.median = known[(known.size() - 1) / 2];
  return run;
}

void check_same(const ReplayRun& a, const ReplayRun& b) {
  CHECK(a.min == b.min);
  CHECK(a.median == b.median);
  CHECK(a.max == b.max);
  CHECK(a.max_index == b.max_index);
  CHECK(a.known == b.known);
  CHECK(a.sampled == b.sampled);
}

}  // namespace

TEST_CASE(
    "replay series: run() and max() equal a direct computation for aligned and unaligned ranges") {
  model::GrowingList<trace::Replay> list = random_replays(3001, 1);
  const auto replays = list.view();
  const ReplaySeries series = ReplaySeriesBuilder(ReplayValue::DeviceTime).extend(replays);
  REQUIRE(series.size() == 3001);
  for (const std::size_t count : {1u, 2u, 8u, 64u, 1024u, 2048u}) {
    for (std::size_t first = 0; first < replays.size(); first += count)
      check_same(series.run(first, first + count), expected_run(replays, first, first + count));
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::size_t first = random() % 3001, end = first + random() % 700;
    CAPTURE(first);
    CAPTURE(end);
    check_same(series.run(first, end), expected_run(replays, first, end));
    CHECK(series.max(first, end) == expected_run(replays, first, end).max);
  }
}

TEST_CASE("replay series: a series extended in steps equals a series built at once") {
  model::GrowingList<trace::Replay> all = random_replays(1000, 3), some;
  ReplaySeriesBuilder builder(ReplayValue::DeviceTime);
  ReplaySeries grown;
  for (std::size_t i = 0; i < all.size(); ++i) {
    some.push_back(all[i]);
    if (i % 37 == 0 || i + 1 == all.size()) grown = builder.extend(some.view());
  }
  const ReplaySeries at_once = ReplaySeriesBuilder(ReplayValue::DeviceTime).extend(all.view());
  REQUIRE(grown.size() == at_once.size());
  CHECK(grown.known() == at_once.known());
  for (std::size_t first = 0; first < 1000; first += 16)
    check_same(grown.run(first, first + 16), at_once.run(first, first + 16));
}

TEST_CASE("replay series: a replay inserted in the middle of the list is included") {
  model::GrowingList<trace::Replay> list;
  const auto before = [](const trace::Replay& a, const trace::Replay& b) {
    return a.replay < b.replay;
  };
  for (std::uint64_t number = 1; number <= 40; ++number) {
    if (number != 17) list.push_back(make_replay(number, 100));
  }
  ReplaySeriesBuilder builder(ReplayValue::DeviceTime);
  CHECK(builder.extend(list.view()).run(0, 64).max == 100);
  list.insert_sorted(make_replay(17, 7000), before);
  const ReplaySeries series = builder.extend(list.view());
  CHECK(series.size() == 40);
  CHECK(series.run(0, 64).max == 7000);
  CHECK(series.run(0, 64).max_index == 16);
}

TEST_CASE("replay series: each ReplayValue selects its duration") {
  model::GrowingList<trace::Replay> list;
  list.push_back(make_replay(1, 400'000));
  list.push_back(make_replay(2, 1'500'000));
  list.push_back(make_replay(3, 400'000));
  const auto series_of = [&](ReplayValue value) {
    return ReplaySeriesBuilder(value).extend(list.view());
  };
  CHECK(series_of(ReplayValue::DeviceTime)[1] == 1'500'000);
  CHECK(series_of(ReplayValue::LaunchCall)[1] == 3'000);
  CHECK(series_of(ReplayValue::Latency)[1] == 20'000);
  const ReplaySeries gaps = series_of(ReplayValue::Gap);
  CHECK(gaps[0] < 0);         // no previous replay
  CHECK(gaps[1] == 600'000);  // 1 ms between starts
  CHECK(gaps[2] == 0);        // overlaps the previous replay
}

TEST_CASE("replay bars: an outlier among 100,000 replays is drawn at every zoom") {
  constexpr std::uint64_t kOutlier = 61'803;
  const auto document = test::make_replays_document(100'000, [](trace::Replay& r) {
    if (r.replay == kOutlier) r.ended = r.started + 9'000'000;
  });
  const ReplaySeries series = ReplaySeriesBuilder(ReplayValue::DeviceTime)
                                  .extend(document->find(test::kManyReplays)->replays);
  for (const double points : {100.0, 640.0, 1434.0, 1600.0, 5000.0}) {
    CAPTURE(points);
    const auto bars = replay_bars(series, -3000, 103'000, points / 100'000);
    CHECK(static_cast<double>(bars.size()) <= points + 1);
    std::size_t at = 0, outliers = 0;
    for (const ReplayBar& bar : bars) {
      CHECK(bar.first == at);  // no gaps and no overlaps
      at = bar.end;
      if (bar.run.max != 9'000'000) continue;
      ++outliers;
      CHECK(bar.run.max_index == kOutlier - 1);
    }
    CHECK(at == 100'000);
    CHECK(outliers == 1);
  }
}

TEST_CASE("replay bars: panning does not change the extent of a bar") {
  const auto document = test::make_replays_document(10'000);
  const ReplaySeries series = ReplaySeriesBuilder(ReplayValue::DeviceTime)
                                  .extend(document->find(test::kManyReplays)->replays);
  const auto here = replay_bars(series, 1000, 5000, 0.2),
             moved = replay_bars(series, 1003.4, 5003.4, 0.2);
  const auto same = std::find_if(moved.begin(), moved.end(),
                                 [&](const ReplayBar& bar) { return bar.first == here[10].first; });
  REQUIRE(same != moved.end());
  CHECK(same->end == here[10].end);
}

TEST_CASE("replay bars: the axis fits all values except outliers") {
  CHECK(strip_axis(1000, 950, 990, 1100).top == doctest::Approx(1080));  // everything fits
  const StripAxis axis = strip_axis(1'000'000, 950, 990, 1100);
  CHECK(axis.top < 3000);
  CHECK(axis.top > 1100);
  CHECK(axis.is_linear());
  CHECK(strip_axis(5000, -1, -1, 0).top > 5000);  // the median is unknown
}

TEST_CASE("replay bars: the median stays readable however slow the slowest replays are") {
  for (const trace::Time factor : {1, 2, 5, 10, 100, 10'000}) {
    CAPTURE(factor);
    const trace::Time median = 20'000, p99 = median * factor;
    const StripAxis axis = strip_axis(2 * p99, median, p99, 2 * median);
    CHECK(axis.position(static_cast<double>(median)) >= 0.22);
    CHECK(axis.position(static_cast<double>(p99)) <= 1);
    double last = -1;  // longer replays have longer bars
    for (double time = 0; time <= static_cast<double>(p99); time += static_cast<double>(p99) / 50) {
      CHECK(axis.position(time) > last);
      last = axis.position(time);
    }
    CHECK(axis.position(axis.top) == doctest::Approx(1));
    CHECK(axis.position(axis.top * 2) == doctest::Approx(1));
  }
}

TEST_CASE(
    "replay statistics: a histogram counts every known value, and outliers in the overflow bin") {
  const auto document = test::make_replays_document(1000, [](trace::Replay& r) {
    if (r.replay == 500) r.ended = r.started + 80'000'000;
    if (r.replay == 600) r.ended = 0;
  });
  const ReplaySeries series = ReplaySeriesBuilder(ReplayValue::DeviceTime)
                                  .extend(document->find(test::kManyReplays)->replays);
  const DurationBins histogram = duration_bins(series, {}, 40);
  std::size_t count = histogram.overflow;
  for (const std::size_t bin : histogram.bins) count += bin;
  CHECK(count == 999);
  CHECK(histogram.overflow == 1);
  CHECK(histogram.max == 80'000'000);
  CHECK(histogram.lowest + histogram.width * 40 < 200'000);  // the outlier does not widen the bins
  const auto& replays = document->find(test::kManyReplays)->replays;
  const auto taking = [](double min, double max) {
    return model::ReplayRange{.durations = model::DurationBounds{.min = min, .max = max}};
  };
  const Matches matches = matching_replays(replays, taking(1'000'000, 1e9));
  REQUIRE(matches.indices.size() == 1);
  CHECK(matches.indices.front() == 499);
  CHECK(matches.any(400, 500));
  CHECK(!matches.any(500, 1000));
  model::ReplayRange first = taking(0, 1e9);
  first.count = 100;
  CHECK(matching_replays(replays, first).indices.size() == 100);
}

TEST_CASE("replay statistics: summarise() returns median, p99 and the outlier fence") {
  const auto document = test::make_replays_document(
      1001, [](trace::Replay& r) { r.ended = r.started + 1000 + static_cast<Time>(r.replay); });
  const ReplaySeries series = ReplaySeriesBuilder(ReplayValue::DeviceTime)
                                  .extend(document->find(test::kManyReplays)->replays);
  const SeriesSummary summary = summarise(series);
  CHECK(summary.median == 1501);
  CHECK(summary.p99 == 1991);
  CHECK(summary.fence > 2001);
  CHECK(summarise({}).median < 0);
}

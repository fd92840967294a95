#include <doctest/doctest.h>

#include <vector>

#include "profile/overhead_meter.hpp"

using namespace reprise;
using detail::OverheadMeter;

namespace {

constexpr trace::Time kSecond = 1'000'000'000;

std::vector<trace::ProfilingOverhead> costs(const std::vector<trace::Record>& records) {
  std::vector<trace::ProfilingOverhead> out;
  for (const trace::Record& record : records)
    out.push_back(std::get<trace::ProfilingOverhead>(record));
  return out;
}

}  // namespace

TEST_CASE("overhead meter: one record covers about a second of threads and hooks") {
  OverheadMeter meter(100, 10);
  std::vector<trace::Record> records;
  meter.tick(200, ProfileMode::Every, 50, records);
  meter.add({.launches = 2, .replays = 2, .nodes = 100});
  meter.tick(300, ProfileMode::Every, 1'000, records);
  CHECK(records.empty());
  meter.add({.launches = 1, .replays = 0, .nodes = 0});
  meter.tick(100 + kSecond, ProfileMode::Every, 2'000, records);
  // 3 clock reads for each launch and replay, 1.5 for each node.
  CHECK(costs(records) == std::vector<trace::ProfilingOverhead>{
                              {100, 100 + kSecond, 3, 2'000 + 10 * (3 * 3 + 3 * 2 + 150), 0}});
  meter.add({.launches = 1, .replays = 1, .nodes = 0});
  meter.finish(200 + kSecond, ProfileMode::Every, 2'500, records);
  CHECK(costs(records).back() ==
        trace::ProfilingOverhead{100 + kSecond, 200 + kSecond, 3, 500 + 60, 0});
}

TEST_CASE("overhead meter: without hooks there is no record") {
  OverheadMeter meter(100, 10);
  std::vector<trace::Record> records;
  for (trace::Time now = 200; now < 10 * kSecond; now += kSecond)
    meter.tick(now, ProfileMode::Off, now / 1'000, records);
  meter.finish(11 * kSecond, ProfileMode::Off, 99'999, records);
  CHECK(records.empty());
}

TEST_CASE("overhead meter: a record covers one mode") {
  OverheadMeter meter(100, 10);
  std::vector<trace::Record> records;
  meter.add({.launches = 1, .replays = 1, .nodes = 0});
  meter.tick(200, ProfileMode::Replays, 10, records);
  meter.tick(300, ProfileMode::Every, 20, records);
  meter.add({.launches = 1, .replays = 1, .nodes = 5});
  meter.tick(400, ProfileMode::Every, 30, records);
  meter.finish(500, ProfileMode::Off, 40, records);
  const auto recorded = costs(records);
  REQUIRE(recorded.size() == 2);
  CHECK(recorded[0].mode == 1);
  CHECK(recorded[0].to == 300);
  CHECK(recorded[1].mode == 3);
  CHECK(recorded[1].from == 300);
}

#include "run/launch_meter.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace reprise;
using namespace reprise::detail;
using Stretch = LaunchMeter::Stretch;

TEST_CASE("launch meter: median and p99 are those of what was noted, to a sixteenth") {
  LaunchMeter meter;
  for (int i = 0; i < 98; ++i) meter.note(std::chrono::nanoseconds(1000));
  meter.note(std::chrono::microseconds(50));
  meter.note(std::chrono::milliseconds(7));
  const LaunchTimes times = meter.times(Stretch::Before);
  CHECK(times.launches == 100);
  CHECK(times.median_us >= 1.0);
  CHECK(times.median_us <= 1.0 * 17 / 16);
  CHECK(times.p99_us >= 50);
  CHECK(times.p99_us <= 50.0 * 17 / 16);
}

TEST_CASE("launch meter: what begins a stretch leaves the one before as it was") {
  LaunchMeter meter;
  meter.note(std::chrono::nanoseconds(5));
  meter.begin(Stretch::Meanwhile);
  meter.note(std::chrono::hours(1));  // longer than any bin tells
  meter.note(std::chrono::nanoseconds(-1));
  CHECK(meter.launches(Stretch::Before) == 1);
  CHECK(meter.launches(Stretch::Meanwhile) == 2);
  CHECK(meter.times(Stretch::Before).p99_us == doctest::Approx(0.006));
  CHECK(meter.times(Stretch::Meanwhile).p99_us > 1e8);
  CHECK(LaunchMeter().times(Stretch::Before).p99_us == 0);
}

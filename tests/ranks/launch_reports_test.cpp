// Conclusions that ranks draw from each other's reports of launches.
#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "collectives/launch_reports.hpp"

namespace reprise::test {
namespace {

using detail::LaunchReports;
using detail::ReportedLaunches;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr LaunchReports::Clock::time_point kStart{std::chrono::hours(1)};

}  // namespace

TEST_CASE("launch reports: counts and ends are read as they were written") {
  const std::vector<ReportedLaunches> launches = {{1, 7}, {~0ull, ~0ull}, {3, 0, true}};
  LaunchReports reports;
  CHECK(reports.take(detail::report_of(launches, 1000, 5), seconds(0), kStart));
  for (const ReportedLaunches& one : launches) {
    const LaunchReports::Known* const known = reports.find(one.communicator);
    REQUIRE(known != nullptr);
    CHECK(known->launches.count == one.count);
    CHECK(known->launches.has_ended == one.has_ended);
    CHECK(known->is_in_latest);
  }
  CHECK(reports.find(4) == nullptr);
  CHECK(detail::report_of({}, 1000, 5).empty());
}

TEST_CASE("launch reports: parts of a long list, over and over, tell all of it") {
  std::vector<ReportedLaunches> launches;
  for (std::uint64_t i = 0; i < 1000; ++i) launches.push_back({i * 0x9e3779b97f4a7c15, i});
  std::minstd_rand random(1);
  LaunchReports reports;
  for (int i = 0; i < 400; ++i) {
    const std::string report = detail::report_of(launches, 500, random());
    CHECK(report.size() <= 500);
    CHECK(report.size() > 400);
    reports.take(report, seconds(0), kStart);
  }
  for (const ReportedLaunches& one : launches) {
    REQUIRE(reports.find(one.communicator) != nullptr);
    CHECK(reports.find(one.communicator)->launches.count == one.count);
  }
  CHECK(detail::report_of(launches, 3, 0).empty());
}

TEST_CASE("launch reports: a missing communicator is as old as the last report that had it") {
  const auto report = [](std::vector<ReportedLaunches> launches) {
    return detail::report_of(launches, 1000, 0);
  };
  LaunchReports reports;
  CHECK(reports.take(report({{1, 5}, {2, 5}}), seconds(1), kStart));
  CHECK(reports.find(1)->as_of == kStart - seconds(1));
  // The same report, confirmed by a later sign of life.
  CHECK(!reports.take(report({{1, 5}, {2, 5}}), seconds(0), kStart + seconds(9)));
  CHECK(reports.find(1)->as_of == kStart + seconds(9));
  CHECK(!reports.take(report({{2, 5}}), seconds(0), kStart + seconds(20)));
  CHECK(reports.find(1)->as_of == kStart + seconds(9));
  CHECK(!reports.find(1)->is_in_latest);
  CHECK(reports.find(2)->as_of == kStart + seconds(20));
  CHECK(reports.take(report({{2, 6}}), seconds(0), kStart + seconds(30)));
  CHECK(reports.take(report({{2, 6, true}}), seconds(0), kStart + seconds(31)));
  CHECK(!reports.take(report({{2, 6, true}}), seconds(0), kStart + minutes(9)));
  CHECK(reports.find(1) == nullptr);
  CHECK(reports.find(2) != nullptr);
}

}  // namespace reprise::test

#include "collectives/launch_reports.hpp"

#include <sstream>

#include "base/text.hpp"

namespace reprise::detail {

namespace {

// "id count;" or, after the end of the communicator, "id count!".
constexpr char kOpen = ';', kEnded = '!';

}  // namespace

std::string report_of(std::span<const ReportedLaunches> launches, std::size_t max_bytes,
                      std::uint64_t start) {
  std::string report;
  std::size_t first = 0, bytes = 0;
  const auto text_of = [](const ReportedLaunches& one) {
    return concat(one.communicator, " ", one.count, one.has_ended ? kEnded : kOpen);
  };
  for (const ReportedLaunches& one : launches) bytes += text_of(one).size();
  if (bytes > max_bytes) first = static_cast<std::size_t>(start % launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::string text = text_of(launches[(first + i) % launches.size()]);
    if (report.size() + text.size() > max_bytes) break;
    report += text;
  }
  return report;
}

bool LaunchReports::take(const std::string& report, std::chrono::nanoseconds age,
                         Clock::time_point now) {
  bool is_new = false;
  if (report != latest_) {
    latest_ = report;
    for (auto& [id, known] : known_) known.is_in_latest = false;
    std::istringstream text(report);
    ReportedLaunches one;
    for (char end = 0; text >> one.communicator >> one.count >> end;) {
      one.has_ended = end == kEnded;
      const auto [at, is_first] = known_.try_emplace(one.communicator);
      const ReportedLaunches& before = at->second.launches;
      is_new |= is_first || one.count > before.count || one.has_ended != before.has_ended;
      at->second.launches = one;
      at->second.is_in_latest = true;
    }
  }
  for (auto& [id, known] : known_)
    if (known.is_in_latest) known.as_of = now - age;
  std::erase_if(known_, [&](const auto& entry) {
    return !entry.second.is_in_latest && now - entry.second.as_of > kForgotten;
  });
  return is_new;
}

const LaunchReports::Known* LaunchReports::find(std::uint64_t communicator) const {
  const auto at = known_.find(communicator);
  return at == known_.end() ? nullptr : &at->second;
}

}  // namespace reprise::detail

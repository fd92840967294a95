// LaunchReports: the launches of the ranks of a job, which they exchange in reports of limited
// length. A rank with more communicators than fit into one report includes a part of them each
// time, so the absence of a communicator in a report has no meaning. Threads: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace reprise::detail {

struct ReportedLaunches {
  std::uint64_t communicator = 0;
  std::uint64_t count = 0;  // of launches of graphs with collectives of it; never decreases
  bool has_ended = false;   // the communicator was destroyed: no more launches follow
};

// A report of at most `max_bytes`. Without room for all, it starts at `start` modulo their number,
// which callers choose at random, so that each is reported sooner or later.
[[nodiscard]] std::string report_of(std::span<const ReportedLaunches> launches,
                                    std::size_t max_bytes, std::uint64_t start);

// The state of the communicators of one rank, from all its reports so far.
class LaunchReports {
 public:
  using Clock = std::chrono::steady_clock;
  struct Known {
    ReportedLaunches launches;
    Clock::time_point as_of;  // when the rank last reported or confirmed it
    bool is_in_latest = false;
  };

  // `report`: the latest one; `age`: since the rank's last sign of life, which confirms it. Returns
  // whether it contains a launch or an end that no report has contained before.
  bool take(const std::string& report, std::chrono::nanoseconds age, Clock::time_point now);
  // Null: no report of the last kForgotten has mentioned the communicator.
  [[nodiscard]] const Known* find(std::uint64_t communicator) const;

  static constexpr std::chrono::minutes kForgotten{5};

 private:
  std::string latest_;
  std::unordered_map<std::uint64_t, Known> known_;  // by communicator
};

}  // namespace reprise::detail

// JSON output of the commands. Threads: pure functions.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "model/replay_statistics.hpp"
#include "model/trace_summary.hpp"

namespace reprise::cli {

// Indented, with a trailing newline, in ASCII. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

// Summary statistics of a histogram of nanoseconds.
[[nodiscard]] inline nlohmann::ordered_json json_times(const detail::DurationHistogram& times) {
  return {{"count", times.count()},         {"total_ns", times.sum()},
          {"mean_ns", times.mean()},        {"min_ns", times.min()},
          {"p50_ns", times.quantile(0.50)}, {"p90_ns", times.quantile(0.90)},
          {"p99_ns", times.quantile(0.99)}, {"max_ns", times.max()}};
}

// Summary statistics of replays.
[[nodiscard]] inline nlohmann::ordered_json json_times(const model::ReplayStatistics& s) {
  return {{"count", s.count},   {"total_ns", s.total}, {"mean_ns", s.mean}, {"min_ns", s.min},
          {"p50_ns", s.median}, {"p90_ns", s.p90},     {"p99_ns", s.p99},   {"max_ns", s.max}};
}

}  // namespace reprise::cli

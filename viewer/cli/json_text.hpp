// JSON output of the commands. Threads: pure functions.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "model/node_statistics.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::cli {

// Indented, with a trailing newline, in ASCII. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

// Summary statistics of a node.
[[nodiscard]] inline nlohmann::ordered_json json_times(const model::NodeFigures& f) {
  return {{"count", f.count},   {"total_ns", f.total}, {"mean_ns", f.mean}, {"min_ns", f.min},
          {"p50_ns", f.median}, {"p90_ns", f.p90},     {"p99_ns", f.p99},   {"max_ns", f.max}};
}

// Summary statistics of replays.
[[nodiscard]] inline nlohmann::ordered_json json_times(const model::ReplayStatistics& s) {
  return {{"count", s.count},   {"total_ns", s.total}, {"mean_ns", s.mean}, {"min_ns", s.min},
          {"p50_ns", s.median}, {"p90_ns", s.p90},     {"p99_ns", s.p99},   {"max_ns", s.max}};
}

}  // namespace reprise::cli

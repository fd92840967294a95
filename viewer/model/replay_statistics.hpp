// Duration statistics of a range of replays: quantiles and outliers. Exact: sorts the values.
// Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::model {

enum class ReplayMeasure : std::uint8_t {
  DeviceTime,  // device start to device end
  LaunchCall,  // the launch() call on its host thread
  Latency      // launch() call to device start
};

// The replay's value in ns; negative if unknown.
[[nodiscard]] trace::Time measure(const trace::Replay& replay, ReplayMeasure what) noexcept;

struct ReplayRange {
  // indices into the list, clamped to its size
  std::size_t first = 0, count = static_cast<std::size_t>(-1);
};

struct ReplayStatistics {
  std::size_t count = 0, unknown = 0;  // replays with and without a value
  // ns, nearest rank
  trace::Time min = 0, p10 = 0, median = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0;
  // Tukey's far fence: the third quartile plus 3 interquartile ranges
  trace::Time outlier_above = 0;
  std::vector<std::size_t> outliers;  // list indices, largest value first
};

[[nodiscard]] ReplayStatistics replay_statistics(const ListView<trace::Replay>& replays,
                                                 ReplayMeasure what, ReplayRange range = {});

}  // namespace reprise::model

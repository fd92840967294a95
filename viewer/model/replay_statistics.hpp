// How long the replays of a range took: quantiles, and those far outside of
// the rest. Exact: it sorts. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::model {

enum class ReplayMeasure : std::uint8_t {
  DeviceTime,  // from start to end on the device
  LaunchCall,  // of the call of launch, on its thread
  Latency      // from the call of launch to the start on the device
};

// Its value of a replay in ns; below 0: unknown.
[[nodiscard]] trace::Time measure(const trace::Replay& replay, ReplayMeasure what) noexcept;

struct ReplayRange {
  std::size_t first = 0, count = static_cast<std::size_t>(-1);  // in the list; cut at its end
};

struct ReplayStatistics {
  std::size_t count = 0, unknown = 0;  // with and without a value
  trace::Time least = 0, p10 = 0, median = 0, p90 = 0, p99 = 0,
              greatest = 0;  // ns, by nearest rank
  double mean = 0;
  trace::Time outlier_above = 0;  // Tukey's far fence: the third quartile and 3 quartile distances
  std::vector<std::size_t> outliers;  // places in the list, greatest value first
};

[[nodiscard]] ReplayStatistics replay_statistics(const ListView<trace::Replay>& replays,
                                                 ReplayMeasure what, ReplayRange range = {});

}  // namespace reprise::model

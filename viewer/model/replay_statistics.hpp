// Duration statistics of a range of replays: quantiles and outliers. Exact: sorts the values.
// Threads: a pure function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::model {

enum class ReplayMeasure : std::uint8_t {
  DeviceTime,    // device start to device end
  LaunchCall,    // the launch() call on its host thread
  LaunchLatency  // start of the launch() call to device start
};

// The replay's value in ns; negative if unknown.
[[nodiscard]] trace::Time measure(const trace::Replay& replay, ReplayMeasure what) noexcept;
// From the end of the graph's previous replay on the device to the start of this one, at least 0;
// negative if unknown. `previous_ended` 0: unknown.
[[nodiscard]] trace::Time gap_since_previous(const trace::Replay& replay,
                                             trace::Time previous_ended) noexcept;

enum class Durations : std::uint8_t { Inside, Outside };

// Admits replays whose value is inside [min, max] ns, or outside it; never an unknown value.
struct DurationBounds {
  ReplayMeasure measure = ReplayMeasure::DeviceTime;
  double min = 0, max = 0;
  Durations admitted = Durations::Inside;
  friend bool operator==(const DurationBounds&, const DurationBounds&) = default;
};

struct ReplayRange {
  // indices into the list, clamped to its size
  std::size_t first = 0, count = static_cast<std::size_t>(-1);
  std::optional<DurationBounds> durations = {};  // empty: any
  friend bool operator==(const ReplayRange&, const ReplayRange&) = default;
  [[nodiscard]] bool covers_all_indices() const noexcept {
    return first == 0 && count == static_cast<std::size_t>(-1);
  }
};
// Whether the range's durations admit the replay; independent of its index.
[[nodiscard]] bool admits(const ReplayRange& range, const trace::Replay& replay) noexcept;

// Calls `each` with the index and the replay, for all replays that the range admits, in order.
template <class Each>
void for_each_replay(const ListView<trace::Replay>& replays, const ReplayRange& range, Each each) {
  const std::size_t first = std::min(range.first, replays.size()),
                    count = std::min(range.count, replays.size() - first);
  for (std::size_t i = first; i < first + count; ++i) {
    if (admits(range, replays[i])) each(i, replays[i]);
  }
}

// The replays of the range whose nodes were timed.
[[nodiscard]] std::size_t count_sampled(const ListView<trace::Replay>& replays,
                                        const ReplayRange& range = {});

struct ReplayStatistics {
  std::size_t count = 0, unknown = 0;  // replays with and without a value
  // ns, nearest rank
  trace::Time min = 0, p10 = 0, median = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0;
  double total = 0;  // sum of the values
  // Tukey's far fence: the third quartile plus 3 interquartile ranges
  trace::Time outlier_above = 0;
  std::vector<std::size_t> outliers;  // list indices, largest value first
};

// The statistics of values in list order; negative values are unknown.
[[nodiscard]] ReplayStatistics replay_statistics(const std::vector<trace::Time>& values);
[[nodiscard]] ReplayStatistics replay_statistics(const ListView<trace::Replay>& replays,
                                                 ReplayMeasure what, ReplayRange range = {});

}  // namespace reprise::model

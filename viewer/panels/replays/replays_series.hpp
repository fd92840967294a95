// ReplaySeries: one duration per replay of a graph, with min, median and max of each aligned run of
// 8, 16, 32 ... replays. Drawing a million replays therefore costs time proportional to the width
// of the strip, and no replay is omitted. Performs no drawing. Threads: a series is immutable and
// may be read by many threads; a builder belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::viewer {

enum class ReplayValue : std::uint8_t {
  DeviceTime,  // start to end on the device
  LaunchCall,  // duration of the launch call on its thread
  Latency,     // launch call to start on the device
  Gap          // end of the previous replay in the list to start; 0 if they overlap
};

// Statistics of a run of replays. Times in ns; negative if no replay of the run has a value.
struct ReplayRun {
  trace::Time min = -1, median = -1, max = -1;
  std::uint32_t max_index = 0;           // list index of the maximum
  std::uint32_t known = 0, sampled = 0;  // replays with a value; replays with node samples
};

class ReplaySeries {
 public:
  [[nodiscard]] ReplayValue value() const noexcept { return value_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] std::size_t known() const noexcept { return known_; }
  [[nodiscard]] trace::Time operator[](std::size_t index) const { return values_[index].time; }
  // Statistics of [first, end), clamped to the list. O(1) for aligned runs with a power-of-two
  // length, O(n) otherwise.
  [[nodiscard]] ReplayRun run(std::size_t first, std::size_t end) const;
  // The maximum of [first, end) in O(log n) runs; negative if no replay has a value.
  [[nodiscard]] trace::Time max(std::size_t first, std::size_t end) const;

 private:
  friend class ReplaySeriesBuilder;
  struct Value {
    trace::Time time = -1;
    bool sampled = false;
  };
  ReplayValue value_ = ReplayValue::DeviceTime;
  std::size_t known_ = 0;
  model::ListView<Value> values_;
  std::vector<model::ListView<ReplayRun>> levels_;  // complete runs of length kBase << level
};

class ReplaySeriesBuilder {
 public:
  static constexpr std::size_t kBase = 8;

  explicit ReplaySeriesBuilder(ReplayValue value) : value_(value) {}

  // Appends the replays added since the last call. Rebuilds the series if an earlier part of the
  // list changed.
  [[nodiscard]] ReplaySeries extend(const model::ListView<trace::Replay>& replays);
  // Builds a series of other values: appends one (negative: unknown), and returns all.
  void push_back(trace::Time time, bool sampled = false);
  [[nodiscard]] ReplaySeries series();

 private:
  using Value = ReplaySeries::Value;
  void add_runs();

  ReplayValue value_;
  std::size_t known_ = 0;
  std::uint64_t first_number_ = 0, last_number_ = 0;
  trace::Time last_ended_ = 0;
  model::GrowingList<Value> values_;
  std::vector<model::GrowingList<ReplayRun>> levels_;
};

}  // namespace reprise::viewer

// ReplaySeries: one number of every replay of a graph, and the least, greatest and median of each
// aligned run of 8, 16, 32 ... of them, so that a picture of a million replays costs what its width
// costs, and none is left out. Draws nothing. Threads: a series is a value that many may read; its
// builder belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::viewer {

enum class ReplayValue : std::uint8_t {
  DeviceTime,  // from start to end on the device
  LaunchCall,  // of the call of launch, on its thread
  Latency,     // from the call of launch to the start on the device
  Gap  // from the end of the replay before it in the list to its start; 0 where they overlap
};

// A run of replays. Times in ns; below 0 where no replay of the run has a value.
struct ReplayRun {
  trace::Time least = -1, median = -1, greatest = -1;
  std::uint32_t greatest_at = 0;         // place in the list
  std::uint32_t known = 0, sampled = 0;  // that have a value; that have node samples
};

class ReplaySeries {
 public:
  [[nodiscard]] ReplayValue what() const noexcept { return what_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] std::size_t known() const noexcept { return known_; }
  [[nodiscard]] trace::Time operator[](std::size_t place) const { return values_[place].time; }
  // Of [first, end), cut at the end of the list. At once for aligned runs of a power of two; others
  // look at every value.
  [[nodiscard]] ReplayRun run(std::size_t first, std::size_t end) const;
  // The greatest value of [first, end) by whole runs; below 0: none.
  [[nodiscard]] trace::Time greatest(std::size_t first, std::size_t end) const;

 private:
  friend class ReplaySeriesBuilder;
  struct Value {
    trace::Time time = -1;
    bool sampled = false;
  };
  ReplayValue what_ = ReplayValue::DeviceTime;
  std::size_t known_ = 0;
  model::ListView<Value> values_;
  std::vector<model::ListView<ReplayRun>> levels_;  // runs of kBase << level, whole ones alone
};

class ReplaySeriesBuilder {
 public:
  static constexpr std::size_t kBase = 8;

  explicit ReplaySeriesBuilder(ReplayValue what) : what_(what) {}

  // Takes what `replays` has beyond the last call; begins anew where an earlier part is not what it
  // was.
  [[nodiscard]] ReplaySeries extend(const model::ListView<trace::Replay>& replays);

 private:
  using Value = ReplaySeries::Value;
  void add_runs();

  ReplayValue what_;
  std::size_t known_ = 0;
  std::uint64_t first_number_ = 0, last_number_ = 0;
  trace::Time last_ended_ = 0;
  model::GrowingList<Value> values_;
  std::vector<model::GrowingList<ReplayRun>> levels_;
};

}  // namespace reprise::viewer

// BusyTime: how many spans of a row, or rows of a group, are active over time, with the integral,
// so that the busy time of any period takes O(log n). Threads: a value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/records.hpp"

namespace reprise::model {

class BusyTime {
 public:
  struct Step {
    trace::Time at = 0;        // until the next step
    std::uint32_t active = 0;  // spans or rows
    trace::Time before = 0;    // ns, the integral of `active` until `at`
  };

  // Adds a span of a row. Spans come in order of start; where they overlap, the row is busy once.
  void add(trace::Time started, trace::Time ended);
  // How many of the rows are busy.
  [[nodiscard]] static BusyTime sum_of(std::span<const BusyTime> rows);

  // ns within [from, to]; of several rows, the sum of their times.
  [[nodiscard]] trace::Time between(trace::Time from, trace::Time to) const {
    return until(to) - until(from);
  }
  [[nodiscard]] trace::Time total() const { return steps_.empty() ? 0 : steps_.back().before; }
  [[nodiscard]] std::uint32_t active_at(trace::Time at) const;
  [[nodiscard]] std::uint32_t max_active() const noexcept { return max_active_; }
  // By time; the last one has nothing active.
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  [[nodiscard]] const Step* step_at(trace::Time at) const;  // null before the first step
  [[nodiscard]] trace::Time until(trace::Time at) const;

  std::vector<Step> steps_;
  std::uint32_t max_active_ = 0;
};

}  // namespace reprise::model

// BusyTime: how many spans of a row, or rows of a group, are active over time, with the integral,
// so that the busy time of any period takes O(log n). Threads: a value; a reader is used by one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

  // Reads consecutive periods: each search starts at the previous one.
  class Reader {
   public:
    explicit Reader(const BusyTime& busy) : busy_(&busy) {}
    // As BusyTime::between().
    [[nodiscard]] trace::Time between(trace::Time from, trace::Time to) {
      const trace::Time before = until(from);
      return until(to) - before;
    }

   private:
    [[nodiscard]] trace::Time until(trace::Time at);

    const BusyTime* busy_;
    trace::Time at_ = std::numeric_limits<trace::Time>::min(), sum_ = 0;  // the last result
    std::size_t steps_ = 0;                                               // until then
    std::size_t advance_ = 1;                                             // of the last search
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
  [[nodiscard]] std::uint32_t max_active() const noexcept { return max_active_; }
  // By time; the last one has nothing active.
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  // The number of steps until a time, of which at least `first` are, and about `advance` more.
  [[nodiscard]] std::size_t steps_until(trace::Time at, std::size_t first,
                                        std::size_t advance) const;
  [[nodiscard]] trace::Time until(trace::Time at, std::size_t steps) const;
  [[nodiscard]] trace::Time until(trace::Time at) const { return until(at, steps_until(at, 0, 1)); }

  std::vector<Step> steps_;
  std::uint32_t max_active_ = 0;
};

}  // namespace reprise::model

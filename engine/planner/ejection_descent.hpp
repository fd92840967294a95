// Repeated ejection searches with shrinking capacity, from the peak of a given packing down to a
// target. Knows no clock. Threads: values and pure functions.
#pragma once

#include <cstdint>

#include "planner/packing.hpp"

namespace reprise::detail {

struct CapacityScheduleDesc {
  std::uint64_t target = 0;         // bytes; no lower capacity is tried
  std::uint64_t capacity_goal = 0;  // bytes; tried before any other capacity; 0: none
  double stride = 0.125;            // part of the gap to the target that the first step covers
  std::uint64_t target_every = 3;   // every n-th capacity is the target itself
};

// Selects the capacities to try. A failure moves the next capacity closer to the best peak. Every
// capacity is a multiple of the common divisor of sizes and alignments, as is the peak of every
// packing in which no item can move down.
class CapacitySchedule {
 public:
  CapacitySchedule(const PackProblem& problem, const CapacityScheduleDesc& desc);
  // The next capacity below `best`, or `best` if no lower peak is wanted.
  [[nodiscard]] std::uint64_t next(std::uint64_t best);
  void report_success();
  void report_failure();
  // The number of times that the stride shrank to its minimum without success.
  [[nodiscard]] std::uint32_t passes() const noexcept { return passes_; }

 private:
  std::uint64_t target_ = 0, capacity_goal_ = 0, unit_ = 1;
  std::uint64_t tried_ = 0;
  double stride_ = 0;
  std::uint64_t target_every_ = 1;
  std::uint32_t passes_ = 0;
};

struct DescentDesc {
  std::uint64_t target = 0;       // bytes; at least the size of the largest item
  std::uint64_t step_budget = 0;  // inspected pairs of items, approximately
  std::uint64_t seed = 1;
};

// Runs ejection searches that start at `first`. The result is the same on every run and machine,
// and its peak is at most that of `first`.
[[nodiscard]] Packing descend_by_ejections(const PackProblem& problem, Packing first,
                                           const DescentDesc& desc);

}  // namespace reprise::detail

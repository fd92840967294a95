#include "planner/ejection_descent.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/aligned_up.hpp"
#include "planner/ejection_search.hpp"

namespace reprise::detail {

namespace {

constexpr double kMinStride = 0.01;       // part of the gap to the target
constexpr std::uint64_t kCapacities = 5;  // tried within the step budget if every attempt fails
constexpr std::uint64_t kStepOverhead =
    24;  // cost of a step in inspected pairs, besides its conflicts

}  // namespace

CapacitySchedule::CapacitySchedule(const PackProblem& problem, const CapacityScheduleDesc& desc)
    : capacity_goal_(desc.capacity_goal), stride_(desc.stride), target_every_(desc.target_every) {
  std::uint64_t unit = 0;
  for (const PackItem& item : problem.items) {
    unit = std::gcd(unit, item.bytes);
    if (item.alignment != 1) unit = std::gcd(unit, item.alignment);
  }
  unit_ = std::max<std::uint64_t>(unit, 1);
  target_ = aligned_up(desc.target, unit_);
}

std::uint64_t CapacitySchedule::next(std::uint64_t best) {
  if (best <= target_) return best;
  if (target_ < capacity_goal_ && capacity_goal_ < best) return capacity_goal_;
  if (++tried_ % target_every_ == 0) return target_;
  const auto less = static_cast<std::uint64_t>(static_cast<double>(best - target_) * stride_);
  return std::max(target_, (best - std::max<std::uint64_t>(less, 1)) / unit_ * unit_);
}

void CapacitySchedule::report_success() { stride_ = std::min(0.5, 1.5 * stride_); }
void CapacitySchedule::report_failure() {
  if (stride_ >= 2 * kMinStride) {
    stride_ /= 2;
    return;
  }
  stride_ = 0.25;
  ++passes_;
}

Packing descend_by_ejections(const PackProblem& problem, Packing first, const DescentDesc& desc) {
  const std::uint64_t cost_per_step =
      kStepOverhead + 2 * problem.conflicts.size() / std::max(problem.size(), 1u);
  std::uint64_t remaining = desc.step_budget / cost_per_step;
  const std::uint64_t max_steps = std::max<std::uint64_t>(remaining / kCapacities, 1);
  CapacitySchedule capacities(problem,
                              {.target = desc.target, .stride = 0.5, .target_every = kCapacities});
  EjectionSearch search(problem, desc.seed);
  while (remaining > 0) {
    const std::uint64_t capacity = capacities.next(first.peak_bytes);
    if (capacity >= first.peak_bytes) break;
    search.start(first, capacity);
    const std::uint64_t before = search.steps();
    if (search.run(std::min(remaining, max_steps), nullptr)) {
      first = search.packing();
      capacities.report_success();
    } else {
      capacities.report_failure();
    }
    remaining -= std::min(remaining, std::max<std::uint64_t>(search.steps() - before, 1));
  }
  return first;
}

}  // namespace reprise::detail

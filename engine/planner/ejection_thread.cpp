#include "planner/ejection_thread.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "planner/ejection_descent.hpp"
#include "planner/ejection_search.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kStepsPerExchange = 10'000;
constexpr std::uint32_t kMaxDoublings = 20;  // a search of this length takes days

}  // namespace

EjectionThread::EjectionThread(const PackProblem& problem, Packing first, std::uint64_t target,
                               std::uint64_t capacity_goal)
    : problem_(problem),
      target_(target),
      capacity_goal_(capacity_goal),
      best_(std::move(first)),
      thread_([this](const std::stop_token& stop) {
        try {
          run(stop);
        } catch (const std::bad_alloc&) {
          // The best packing so far remains.
        }
      }) {}

Packing EjectionThread::exchange(const Packing& found) {
  const std::lock_guard lock(mutex_);
  if (found.peak_bytes < best_.peak_bytes) best_ = found;
  return best_;
}

Packing EjectionThread::best() {
  const std::lock_guard lock(mutex_);
  return best_;
}

void EjectionThread::run(const std::stop_token& stop) {
  CapacitySchedule capacities(problem_, {.target = target_, .capacity_goal = capacity_goal_});
  for (Packing from = best(); from.peak_bytes > target_ && !stop.stop_requested(); from = best()) {
    const std::uint64_t capacity = capacities.next(from.peak_bytes);
    if (capacity >= from.peak_bytes) return;
    // One capacity can be infeasible while a slightly larger one is easy, so searches become longer
    // only after a complete pass over the strides.
    const std::uint64_t exchanges = std::uint64_t{1}
                                    << std::min(capacities.passes(), kMaxDoublings);
    if (try_capacity(capacity, exchanges, from, stop)) {
      capacities.report_success();
    } else {
      capacities.report_failure();
    }
  }
}

// Returns true once either side has a packing that fits in `capacity`.
bool EjectionThread::try_capacity(std::uint64_t capacity, std::uint64_t exchanges,
                                  const Packing& from, const std::stop_token& stop) {
  EjectionSearch search(problem_, ++attempts_);
  search.start(from, capacity);
  for (std::uint64_t i = 0; i < exchanges && !stop.stop_requested(); ++i) {
    const bool is_found = search.run(kStepsPerExchange, [&] { return stop.stop_requested(); });
    const std::lock_guard lock(mutex_);
    if (is_found) {
      Packing found = search.packing();
      if (found.peak_bytes < best_.peak_bytes) best_ = std::move(found);
    }
    if (best_.peak_bytes <= target_) is_at_target_.store(true, std::memory_order_relaxed);
    if (best_.peak_bytes <= capacity) return true;
  }
  return false;
}

}  // namespace reprise::detail

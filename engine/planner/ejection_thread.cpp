#include "planner/ejection_thread.hpp"

#include <algorithm>
#include <utility>

#include "planner/ejection_descent.hpp"
#include "planner/ejection_search.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kTurn = 10'000;     // steps between two looks at what the other side found
constexpr std::uint32_t kMostDoubled = 20;  // times: by then it is days

}  // namespace

EjectionThread::EjectionThread(const PackProblem& problem, Packing first, std::uint64_t target,
                               std::uint64_t wish)
    : problem_(problem),
      target_(target),
      wish_(wish),
      best_(std::move(first)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Packing EjectionThread::exchange(const Packing& found) {
  const std::lock_guard lock(mutex_);
  if (found.height < best_.height) best_ = found;
  return best_;
}

Packing EjectionThread::best() {
  const std::lock_guard lock(mutex_);
  return best_;
}

void EjectionThread::run(const std::stop_token& stop) {
  DescentHeights heights(problem_, {.target = target_, .wish = wish_});
  for (Packing from = best(); from.height > target_ && !stop.stop_requested(); from = best()) {
    const std::uint64_t height = heights.next(from.height);
    if (height >= from.height) return;
    // One height may be hopeless where a slightly greater one is easy: none gets long before all
    // have had their turn.
    const std::uint64_t turns = std::uint64_t{1} << std::min(heights.rounds(), kMostDoubled);
    if (try_height(height, turns, from, stop)) {
      heights.tell_reached();
    } else {
      heights.tell_missed();
    }
  }
}

// True once there is a packing of that height, whoever found it.
bool EjectionThread::try_height(std::uint64_t height, std::uint64_t turns, const Packing& from,
                                const std::stop_token& stop) {
  EjectionSearch search(problem_, ++heights_);
  search.begin(from, height);
  for (std::uint64_t turn = 0; turn < turns && !stop.stop_requested(); ++turn) {
    const bool is_found = search.run(kTurn, [&] { return stop.stop_requested(); });
    const std::lock_guard lock(mutex_);
    if (is_found) {
      Packing found = search.packing();
      if (found.height < best_.height) best_ = std::move(found);
    }
    if (best_.height <= target_) is_at_target_.store(true, std::memory_order_relaxed);
    if (best_.height <= height) return true;
  }
  return false;
}

}  // namespace reprise::detail

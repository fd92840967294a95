// EjectionThread: an ejection search on its own thread, beside another search of the same problem.
// The two searches exchange their best packings. Threads: one owner at a time; the destructor stops
// and joins the search thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "planner/packing.hpp"

namespace reprise::detail {

class EjectionThread {
 public:
  // The thread stops at a peak of `target` bytes and tries `capacity_goal` first (0: none).
  // `problem` outlives this object and has items.
  EjectionThread(const PackProblem& problem, Packing first, std::uint64_t target,
                 std::uint64_t capacity_goal);
  EjectionThread(const EjectionThread&) = delete;
  EjectionThread& operator=(const EjectionThread&) = delete;

  // Returns the best packing of both sides. The thread continues from `found` if that is the best.
  [[nodiscard]] Packing exchange(const Packing& found);
  // True after a packing with the target's peak was found; exchange() returns it.
  [[nodiscard]] bool is_at_target() const noexcept {
    return is_at_target_.load(std::memory_order_relaxed);
  }

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Packing best();
  [[nodiscard]] bool try_capacity(std::uint64_t capacity, std::uint64_t exchanges,
                                  const Packing& from, const std::stop_token& stop);

  const PackProblem& problem_;
  const std::uint64_t target_, capacity_goal_;
  std::mutex mutex_;  // guards best_
  Packing best_;
  std::atomic<bool> is_at_target_ = false;
  std::uint64_t attempts_ = 0;  // capacities tried so far; used only by the thread
  std::jthread thread_;         // last member: it uses all others
};

}  // namespace reprise::detail

// EjectionThread: ejections from the lowest packing so far, beside another search of the same
// problem: each goes on from what the other one found. Threads: one owner, and the thread that it
// has from its making to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "planner/packing.hpp"

namespace reprise::detail {

class EjectionThread {
 public:
  // `target`: what is low enough; `wish`: a height to reach before others, 0 for none. `problem`
  // outlives this; it has items.
  EjectionThread(const PackProblem& problem, Packing first, std::uint64_t target,
                 std::uint64_t wish);
  EjectionThread(const EjectionThread&) = delete;
  EjectionThread& operator=(const EjectionThread&) = delete;

  // Goes on from `found` once that is lower; gives the lowest of all, of either side.
  [[nodiscard]] Packing exchange(const Packing& found);
  // There is a packing of the target's height: exchange() gives it.
  [[nodiscard]] bool is_at_target() const noexcept {
    return is_at_target_.load(std::memory_order_relaxed);
  }

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Packing best();
  [[nodiscard]] bool try_height(std::uint64_t height, std::uint64_t turns, const Packing& from,
                                const std::stop_token& stop);

  const PackProblem& problem_;
  const std::uint64_t target_, wish_;
  std::mutex mutex_;  // guards best_
  Packing best_;
  std::atomic<bool> is_at_target_ = false;
  std::uint64_t heights_ = 0;  // tried so far; of the thread alone
  std::jthread thread_;        // last: it uses all of the others
};

}  // namespace reprise::detail

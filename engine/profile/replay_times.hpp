// ReplayTimes: records the duration of each node over a fixed number of replays of one executable.
// Knows nothing about devices. Threads: the observer's calls as ReplayObserver states; open() and
// node_costs() on one thread while no replay runs; noted() and is_full() on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class ReplayTimes final : public ReplayObserver {
 public:
  explicit ReplayTimes(const Plan& plan);

  // Records the next `replays` replays whose nodes are timed. Called once; earlier replays are
  // ignored.
  void open(std::uint32_t replays);

  [[nodiscard]] std::uint32_t noted() const noexcept {
    return noted_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_full() const noexcept { return replays_ != 0 && noted() == replays_; }
  // The median duration of each schedule node in ns, less `overhead`, the cost of recording one
  // time. 0 for a node that did not run.
  [[nodiscard]] std::vector<std::uint32_t> node_costs(std::uint32_t overhead) const;

  [[nodiscard]] NodeTime* begin_replay(std::uint64_t replay) noexcept override;
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                  NodeTime* nodes) noexcept override;

 private:
  std::vector<std::uint32_t> lowered_node_;  // index: schedule node
  std::vector<NodeTime> times_;              // of the current replay, including nodes of bodies
  std::vector<std::uint32_t> durations_;  // index: replay, then schedule node; kNone: did not run
  std::uint32_t replays_ = 0;             // number to record; 0 before open()
  std::atomic<std::uint32_t> noted_{0};
};

}  // namespace reprise::detail

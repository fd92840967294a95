// ReplayState: what a replay of a host program keeps beside buffers: conditions, how often its
// loops went round, and where times go. Threads: nodes of one replay write; counts() may be asked
// by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

class ReplayState {
 public:
  explicit ReplayState(const Recording& recording);
  ReplayState(const ReplayState&) = delete;
  ReplayState& operator=(const ReplayState&) = delete;

  [[nodiscard]] bool has_conditions() const noexcept { return !values_.empty(); }
  // The same addresses, and those of the recording's conditions. They stay where they are.
  [[nodiscard]] Bindings bind(const Bindings& bindings) const;

  // `times`: of all nodes, as timing_layout() says, or null where nobody wants those of bodies.
  void begin_replay(NodeTime* times) noexcept;
  [[nodiscard]] NodeTime* times() const noexcept { return times_; }
  void count_iteration(std::uint32_t loop) noexcept {
    loops_[loop].iterations.fetch_add(1, std::memory_order_relaxed);
  }
  void reach_limit(std::uint32_t loop) noexcept {
    loops_[loop].reached_limit.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] std::vector<LoopCount> counts() const;

 private:
  struct Value {
    std::uint32_t buffer = 0, initial = 0;
  };
  struct LoopState {
    std::atomic<std::uint64_t> iterations{0};
    std::atomic<bool> reached_limit{false};
  };

  std::vector<Value> values_;
  NodeTime* times_ = nullptr;
  std::unique_ptr<std::uint32_t[]> now_;  // by value; touched as an atomic alone
  std::uint32_t loop_count_;
  std::unique_ptr<LoopState[]> loops_;
};

}  // namespace reprise::detail

// ReplayState: the state of a host program's replay besides buffers: conditions, loop counts, the
// bytes written, and the destination of times. Threads: nodes of one replay write; counts() from
// any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/written_bytes.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

class ReplayState {
 public:
  explicit ReplayState(const Recording& recording);
  ReplayState(const ReplayState&) = delete;
  ReplayState& operator=(const ReplayState&) = delete;

  [[nodiscard]] bool has_conditions() const noexcept { return !values_.empty(); }
  // The same addresses plus those of the recording's conditions, which are stable.
  [[nodiscard]] Bindings bind(const Bindings& bindings) const;

  // `times`: of all nodes in the layout of timing_layout(); null: times of bodies are not wanted.
  void begin_replay(NodeTime* times) noexcept;
  [[nodiscard]] NodeTime* times() const noexcept { return times_; }
  [[nodiscard]] WrittenBytes& written() noexcept { return written_; }
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
  WrittenBytes written_;
  NodeTime* times_ = nullptr;
  std::unique_ptr<std::uint32_t[]> current_;  // by value; accessed atomically only
  std::uint32_t loop_count_;
  std::unique_ptr<LoopState[]> loops_;
};

}  // namespace reprise::detail

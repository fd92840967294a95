#include "backend/host/replay_state.hpp"

#include "plan/loops.hpp"
#include "record/condition_core.hpp"

namespace reprise::detail {

ReplayState::ReplayState(const Recording& recording) : loop_count_(count_loops(recording)) {
  for (std::uint32_t i = 0; i < recording.buffers.size(); ++i) {
    if (recording.buffers[i]->kind == BufferKind::Condition)
      values_.push_back({i, ConditionCore::of(*recording.buffers[i]).initial});
  }
  if (!values_.empty()) current_ = std::make_unique<std::uint32_t[]>(values_.size());
  if (loop_count_ != 0) loops_ = std::make_unique<LoopState[]>(loop_count_);
}

Bindings ReplayState::bind(const Bindings& bindings) const {
  Bindings all = bindings;
  for (std::size_t i = 0; i < values_.size(); ++i)
    all.address[values_[i].buffer] = reinterpret_cast<std::byte*>(current_.get() + i);
  return all;
}

void ReplayState::begin_replay(NodeTime* times) noexcept {
  times_ = times;
  if (written_.is_tracking()) written_.begin_replay();
  for (std::size_t i = 0; i < values_.size(); ++i)
    std::atomic_ref(current_[i]).store(values_[i].initial, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < loop_count_; ++i) {
    loops_[i].iterations.store(0, std::memory_order_relaxed);
    loops_[i].reached_limit.store(false, std::memory_order_relaxed);
  }
}

std::vector<LoopCount> ReplayState::counts() const {
  std::vector<LoopCount> counts(loop_count_);
  for (std::uint32_t i = 0; i < loop_count_; ++i) {
    counts[i] = {loops_[i].iterations.load(std::memory_order_relaxed),
                 loops_[i].reached_limit.load(std::memory_order_relaxed)};
  }
  return counts;
}

}  // namespace reprise::detail

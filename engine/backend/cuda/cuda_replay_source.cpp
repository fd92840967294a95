#include "backend/cuda/cuda_replay_source.hpp"

#include <algorithm>

namespace reprise::detail {

CudaReplaySource::CudaReplaySource(std::shared_ptr<const CudaContext> context, std::shared_ptr<const CudaInstruments> instruments)
    : context_(std::move(context)), instruments_(std::move(instruments)), ring_(context_, instruments_->readback) {}

void CudaReplaySource::close() noexcept {
  left_.store(0);
  const std::lock_guard lock(make_mutex_);
  make_ = nullptr;
}

bool CudaReplaySource::ran_twin(std::uint64_t replay) const noexcept {
  const std::uint64_t first = first_.load(std::memory_order_acquire);
  return first != 0 && replay >= first && replay <= last_.load(std::memory_order_acquire);
}

ReplaySource::Lost CudaReplaySource::collect(ReplayObserver& observer) {
  ended_.clear();
  Lost lost;
  lost.replays = ring_.read(ended_);
  if (ended_.empty()) return lost;
  const GpuClock& clock = *instruments_->clock;
  instruments_->clock->align();
  const std::uint64_t newest = last_.load(std::memory_order_acquire);  // whose row may be written already
  for (const ReplayStamps& replay : ended_) {
    const std::uint64_t number = numbers_.replay(replay.replay);
    if (number == 0) {
      ++lost.replays;
      continue;
    }
    NodeTime* times = nullptr;
    if (ran_twin(replay.replay)) {
      const bool has_row = replay.replay + nodes_->rows() > newest;
      if (has_row) times = observer.begin_replay(number);
      if (times != nullptr) nodes_->read(replay, clock, times);
      if (!has_row) ++lost.nodes;
    }
    observer.end_replay(number, clock.to_host(replay.began), clock.to_host(replay.ended), times);
  }
  if (window_ && left_.load(std::memory_order_acquire) == 0 && ended_.back().replay >= newest) window_ = false;
  return lost;
}

void CudaReplaySource::time_nodes(std::uint64_t replays) {
  if (replays == 0) return left_.store(0);
  if (window_) return;
  const std::lock_guard lock(make_mutex_);
  if (!make_) return;
  if (twin_ == nullptr) {
    Twin twin = make_();
    nodes_ = std::move(twin.nodes);
    twin_ = twin.exec;
  }
  window_ = true;
  first_.store(0);
  last_.store(0);
  left_.store(replays == kAllReplays ? replays : std::min<std::uint64_t>(replays, nodes_->rows()), std::memory_order_release);
}

}  // namespace reprise::detail

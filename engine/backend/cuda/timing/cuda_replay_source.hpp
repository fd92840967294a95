// CudaReplaySource: the times of one graph's replays on a GPU. Boundary timestamps in the graph
// time every replay. A profiling clone times nodes: a second executable, lowered again from the
// plan, which replaces the first for some launches. Where CUPTI is available, each CUPTI window
// creates and destroys a clone of its own. Otherwise, or where CUPTI would cost too much, one clone
// with a timestamp kernel behind every node is created once. Shared by the exec, which launches,
// and the collecting code. Threads: take_clone() from the launching thread; timestamp_mode(),
// pause() and resume() from any; close() from the thread that destroys the exec; otherwise as
// ReplaySource.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/timing/boundary_timestamps.hpp"
#include "backend/cuda/timing/cuda_instrumentation.hpp"
#include "backend/cuda/timing/node_timer.hpp"
#include "backend/cuda/timing/replay_numbers.hpp"
#include "backend/cuda/timing/timestamp_ring.hpp"

namespace reprise::detail {

class CudaReplaySource final : public ReplaySource {
 public:
  // Owned by the exec.
  struct ProfilingClone {
    CUgraphExec exec = nullptr;
    std::unique_ptr<NodeTimer> nodes;
  };
  // The exec's functions to create and upload a clone, timed by timestamps or by CUPTI, and to
  // destroy an idle clone.
  struct ProfilingClones {
    std::function<ProfilingClone(TimedBy)> make;
    std::function<void()> destroy;
    // True if a clone can be made now: the addresses of its nodes are mapped; the caller holds
    // UnmappedRanges.
    std::function<bool()> is_possible;
  };

  // Cheap: the nodes time themselves, in segments.
  enum class Timing : std::uint8_t { Costly, Cheap };
  // `nodes_by`: Timestamp or, where available, Cupti.
  CudaReplaySource(std::shared_ptr<const CudaContext> context,
                   std::shared_ptr<const CudaInstrumentation> instrumentation, TimedBy nodes_by,
                   Timing timing = Timing::Costly);

  [[nodiscard]] const CudaInstrumentation& instrumentation() const noexcept {
    return *instrumentation_;
  }
  [[nodiscard]] TimestampRing& ring() noexcept { return ring_; }
  [[nodiscard]] ReplayNumbers& numbers() noexcept { return numbers_; }
  // The required mode of the boundary timestamps.
  [[nodiscard]] TimestampMode timestamp_mode() const noexcept {
    return timestamp_mode_.load(std::memory_order_relaxed);
    // Called before other code can access this object.
  }
  void open(ProfilingClones clones) { clones_ = std::move(clones); }
  void close() noexcept;  // no clone is made or requested after this

  // Destroys the clone, then runs `change`. The next request creates a new clone. Called from the
  // launching thread.
  template <class Change>
  void without_clone(Change&& change) {
    const std::lock_guard lock(make_mutex_);
    remaining_.store(0);
    close_window();  // CUPTI must deliver its records before the clone is destroyed
    clone_ = nullptr;
    change();
  }

  // The clone to launch in place of the exec, or null. `replay`: the timestamp number of the
  // launch.
  [[nodiscard]] CUgraphExec take_clone(std::uint64_t replay) noexcept {
    std::uint64_t remaining = remaining_.load(std::memory_order_acquire);
    if (remaining == 0) [[likely]]
      return nullptr;
    const std::uint64_t first = first_.load(std::memory_order_relaxed),
                        last = last_.load(std::memory_order_relaxed);
    if (first == 0) first_.store(replay, std::memory_order_relaxed);
    last_.store(replay, std::memory_order_relaxed);
    while (!remaining_.compare_exchange_weak(remaining, remaining - 1, std::memory_order_acq_rel)) {
      if (remaining != 0) continue;
      first_.store(first, std::memory_order_relaxed);  // cancelled concurrently
      last_.store(last, std::memory_order_relaxed);
      return nullptr;
    }
    return clone_;
  }

  [[nodiscard]] Lost collect(ReplayObserver& observer) override;
  void time_nodes(std::uint64_t replays, Precision precision) override;
  void prepare() override;
  [[nodiscard]] bool is_prepared(Precision precision) override;
  [[nodiscard]] bool can_time_every_replay() const noexcept override {
    return timing_ == Timing::Cheap;
  }
  [[nodiscard]] bool is_timing_nodes() const override { return is_timing_; }
  [[nodiscard]] TimedBy timed_by() const noexcept override { return timed_by_; }
  [[nodiscard]] std::string notice() override { return std::exchange(notice_, {}); }
  void pause() noexcept override {
    timestamp_mode_.store(TimestampMode::Off, std::memory_order_relaxed);
  }
  void resume() noexcept override {
    timestamp_mode_.store(TimestampMode::On, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept override {
    return is_timing_ && is_endless_ ? std::min(TimestampRing::kSlots, nodes_->rows())
                                     : TimestampRing::kSlots;
  }
  [[nodiscard]] std::optional<ClockPair> clock() const override {
    return instrumentation_->clock->pair();
  }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool ran_clone(std::uint64_t replay) const noexcept;
  [[nodiscard]] bool is_complete();
  // Returns false if the times are not available yet.
  [[nodiscard]] bool report(const ReplayTimestamps& replay, NodeTimer::Remaining remaining,
                            ReplayObserver& observer, Lost& lost);
  // Under make_mutex_.
  void make_clone(TimedBy by);
  // A CUPTI window; under make_mutex_. False: timestamps replace it, from now on unless the device
  // was only busy.
  [[nodiscard]] bool open_window();
  // Under make_mutex_. try_close_window() returns false while the device stays busy;
  // close_window() tries until the window is closed.
  [[nodiscard]] bool try_close_window() noexcept;
  void close_window() noexcept;

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const CudaInstrumentation> instrumentation_;
  TimestampRing ring_;  // contains timestamped replays only
  const Timing timing_;
  ReplayNumbers numbers_;
  std::atomic<TimestampMode> timestamp_mode_{TimestampMode::On};
  std::mutex make_mutex_;  // guards clones_ and has_window_, and creates clone_ and nodes_
  ProfilingClones clones_;
  bool has_window_ = false;  // a CUPTI window is open

  // --- Used by the collecting code ---
  TimedBy nodes_by_;  // the most exact available source
  TimedBy timed_by_;  // the source of the last request
  std::string notice_;
  std::unique_ptr<NodeTimer> nodes_;     // of the clone
  std::vector<ReplayTimestamps> ended_;  // scratch
  // Ended replays; those of the clone wait for their node times.
  std::deque<ReplayTimestamps> pending_;
  std::uint64_t last_ended_ = 0;
  bool is_timing_ = false, is_endless_ = false;
  Clock::time_point opened_;

  CUgraphExec clone_ = nullptr;  // set before remaining_
  // remaining_: launches still to run on the clone. first_, last_: timestamp numbers of its
  // launches.
  std::atomic<std::uint64_t> remaining_{0}, first_{0}, last_{0};
};

}  // namespace reprise::detail

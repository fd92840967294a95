// CudaReplaySource: the times of one graph's replays on a GPU: those of every replay from the
// stamps in the graph, those of nodes from a twin: a second executable, lowered again from the
// plan, which takes the place of the first for some real launches. Where CUPTI can be had, a twin
// is made inside each of its windows and goes with it; else, and where it would cost too much, one
// with a stamp behind every node is made once. Shared by the exec, which launches, and whoever
// collects. Threads: take_twin() from the thread that launches; stamping(), pause() and resume()
// from any; the rest as ReplaySource says; close() from whoever destroys the exec.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/boundary_timestamps.hpp"
#include "backend/cuda/cuda_instrumentation.hpp"
#include "backend/cuda/node_timer.hpp"
#include "backend/cuda/replay_numbers.hpp"
#include "backend/cuda/timestamp_ring.hpp"

namespace reprise::detail {

class CudaReplaySource final : public ReplaySource {
 public:
  // The exec keeps it.
  struct ProfilingClone {
    CUgraphExec exec = nullptr;
    std::unique_ptr<NodeTimer> nodes;
  };
  // How the exec makes and uploads a twin whose nodes are timed by stamps or by CUPTI, and how it
  // gets rid of one that is not running.
  struct ProfilingClones {
    std::function<ProfilingClone(TimedBy)> make;
    std::function<void()> destroy;
    std::function<bool()> is_possible;  // of making one, now: what its nodes name is there. While
                                        // UnmappedPagesError are held
  };

  // `nodes_by`: Stamp or, where it can be had, Cupti.
  CudaReplaySource(std::shared_ptr<const CudaContext> context,
                   std::shared_ptr<const CudaInstrumentation> instrumentation, TimedBy nodes_by);

  [[nodiscard]] const CudaInstrumentation& instrumentation() const noexcept {
    return *instrumentation_;
  }
  [[nodiscard]] TimestampRing& ring() noexcept { return ring_; }
  [[nodiscard]] ReplayNumbers& numbers() noexcept { return numbers_; }
  // Whether stamps around the graph are to be on.
  [[nodiscard]] TimestampMode timestamp_mode() const noexcept {
    return timestamp_mode_.load(std::memory_order_relaxed);
  }
  void open(ProfilingClones clones) {
    clones_ = std::move(clones);
  }                       // before anybody else knows this
  void close() noexcept;  // no twin is made or asked for from now on

  // Runs `change`, after which there is no twin: the one that there was is made again when it is
  // wanted. From the thread that launches.
  template <class Change>
  void without_clone(Change&& change) {
    const std::lock_guard lock(make_mutex_);
    left_.store(0);
    close_window();  // CUPTI has to be asked for what it knows of a twin before that goes
    clone_ = nullptr;
    change();
  }

  // What this launch has to run instead of the exec, launch number `replay` of those that are
  // stamped; null: the exec.
  [[nodiscard]] CUgraphExec take_clone(std::uint64_t replay) noexcept {
    std::uint64_t left = left_.load(std::memory_order_acquire);
    if (left == 0) [[likely]]
      return nullptr;
    const std::uint64_t first = first_.load(std::memory_order_relaxed),
                        last = last_.load(std::memory_order_relaxed);
    if (first == 0) first_.store(replay, std::memory_order_relaxed);
    last_.store(replay, std::memory_order_relaxed);
    while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) {
      if (left != 0) continue;
      first_.store(first, std::memory_order_relaxed);  // called off meanwhile
      last_.store(last, std::memory_order_relaxed);
      return nullptr;
    }
    return clone_;
  }

  [[nodiscard]] Lost collect(ReplayObserver& observer) override;
  void time_nodes(std::uint64_t replays, Precision closeness) override;
  [[nodiscard]] bool is_timing_nodes() const override { return window_; }
  [[nodiscard]] TimedBy timed_by() const noexcept override { return timed_by_; }
  [[nodiscard]] std::string notice() override { return std::exchange(notice_, {}); }
  void pause() noexcept override {
    timestamp_mode_.store(TimestampMode::Off, std::memory_order_relaxed);
  }
  void resume() noexcept override {
    timestamp_mode_.store(TimestampMode::On, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return TimestampRing::kSlots; }
  [[nodiscard]] std::optional<ClockPair> clock() const override {
    return instrumentation_->clock->pair();
  }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool ran_clone(std::uint64_t replay) const noexcept;
  [[nodiscard]] bool is_complete();
  [[nodiscard]] bool tell(const ReplayTimestamps& replay, NodeTimer::Rest rest,
                          ReplayObserver& observer, Lost& lost);  // false: not yet
  [[nodiscard]] bool open_window();  // of CUPTI; under make_mutex_. False: stamps instead
  void close_window() noexcept;      // the same

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const CudaInstrumentation> instrumentation_;
  TimestampRing ring_;  // its replays are those that were stamped
  ReplayNumbers numbers_;
  std::atomic<TimestampMode> timestamp_mode_{TimestampMode::On};
  std::mutex make_mutex_;  // of twins_ and has_window_
  ProfilingClones clones_;
  bool has_window_ = false;  // of CUPTI, open

  // --- of whoever collects ---
  TimedBy nodes_by_;  // the closest that can be had
  TimedBy timed_by_;  // what the last one was made for
  std::string notice_;
  std::unique_ptr<NodeTimer> nodes_;     // of the twin
  std::vector<ReplayTimestamps> ended_;  // scratch
  std::deque<ReplayTimestamps>
      waiting_;  // ended; some that the twin ran wait for the times of their nodes
  std::uint64_t last_ended_ = 0;
  bool window_ = false, is_endless_ = false;
  Clock::time_point opened_;

  CUgraphExec clone_ = nullptr;  // set before left_ is
  std::atomic<std::uint64_t> left_{0}, first_{0},
      last_{0};  // launches that go to the twin; stamped ones that went there
};

}  // namespace reprise::detail

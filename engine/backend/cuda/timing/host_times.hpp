// HostTimes: the times of a host callback in the latest replays, recorded by the thread that ran
// it, because CUPTI has no record of it. Threads: record() one at a time; find() any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/cuda/timing/timestamp_ring.hpp"

namespace reprise::detail {

class HostTimes {
 public:
  struct Span {
    std::int64_t started = 0, ended = 0;  // ns of the steady clock
  };

  void record(std::uint64_t replay, const Span& span) noexcept {
    Slot& slot = slots_[replay % slots_.size()];
    slot.replay.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    slot.started.store(span.started, std::memory_order_relaxed);
    slot.ended.store(span.ended, std::memory_order_relaxed);
    slot.replay.store(replay, std::memory_order_release);
  }
  // Empty if the callback did not run in that replay or if its slot was overwritten.
  [[nodiscard]] std::optional<Span> find(std::uint64_t replay) const noexcept {
    const Slot& slot = slots_[replay % slots_.size()];
    if (slot.replay.load(std::memory_order_acquire) != replay) return std::nullopt;
    const Span span{slot.started.load(std::memory_order_relaxed),
                    slot.ended.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    // Overwritten during the read.
    if (slot.replay.load(std::memory_order_relaxed) != replay) return std::nullopt;
    return span;
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> replay{0};  // 0: empty or being written
    std::atomic<std::int64_t> started{0}, ended{0};
  };
  std::array<Slot, TimestampRing::kSlots> slots_;
};

}  // namespace reprise::detail

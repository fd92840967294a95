// LaunchGate: many come and go, unless one has closed it. Launches pass it where CUPTI may be
// attached or detached, which must not happen beside one. Passing takes two atomic additions.
// Threads: any; a thread that is inside must not close it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace reprise::detail {

class LaunchGate {
 public:
  void enter() noexcept {
    for (;;) {
      inside_.fetch_add(1);
      if (!closed_.load()) [[likely]]
        return;
      inside_.fetch_sub(1);
      const std::lock_guard wait(mutex_);  // of whoever closed it
    }
  }
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }

  // Returns when nobody is inside.
  void close() noexcept {
    mutex_.lock();
    closed_.store(true);
    while (inside_.load() != 0) std::this_thread::yield();
  }
  void open() noexcept {
    closed_.store(false);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<bool> closed_{false};
};

// Inside while it lives; null: there is no gate to pass.
class GatePass {
 public:
  explicit GatePass(LaunchGate* gate) noexcept : gate_(gate) {
    if (gate_ != nullptr) gate_->enter();
  }
  GatePass(const GatePass&) = delete;
  GatePass& operator=(const GatePass&) = delete;
  ~GatePass() {
    if (gate_ != nullptr) gate_->leave();
  }

 private:
  LaunchGate* const gate_;
};

}  // namespace reprise::detail

// LaunchGate: a reader-writer gate. Launches pass it concurrently, and so do instantiations, updates
// and destructions of executables; attaching and detaching CUPTI closes it, because neither may
// overlap any of them. Passing costs two atomic additions. Threads: any; a thread inside must not
// close the gate.
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
      const std::lock_guard wait(mutex_);  // held by the thread that closed the gate
    }
  }
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_release); }

  // Returns after all threads inside have left.
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

// Holds the gate open during its lifetime; null: no gate. Passes do not nest, and a thread takes one
// before the executable's own lock, because closing a window locks that while the gate is closed.
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

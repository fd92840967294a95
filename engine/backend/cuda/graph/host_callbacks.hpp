// HostCallbacks: the host callbacks of one executable graph, and their exceptions. No exception
// propagates into CUDA. Threads: CUDA calls from its own thread; errors() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "backend/callback_errors.hpp"
#include "backend/cuda/timing/host_times.hpp"

namespace reprise::detail {

class HostCallbacks {
 public:
  struct Call {
    HostCallbacks* owner = nullptr;
    const std::function<void()>* function = nullptr;
    std::uint32_t command = 0;
    // Number of calls, which equals the replay number: replays of one exec are serialised.
    std::uint64_t count = 0;
    std::atomic<HostTimes*> times{nullptr};       // null: not timed
    std::shared_ptr<HostTimes> owned_times = {};  // owns *times; set once
  };

  HostCallbacks();
  HostCallbacks(const HostCallbacks&) = delete;
  HostCallbacks& operator=(const HostCallbacks&) = delete;

  // Returns the user data of a host node, shared by all nodes of one command in all executables.
  // Its address is stable. `function` outlives this object. One thread at a time. `command` is a
  // key; the commands of bodies have keys after those of the outer recording.
  [[nodiscard]] Call* add(const std::function<void()>& function, std::uint32_t command);
  // Starts a new set for later add() calls, whose first replay follows `replays`. Returns the
  // previous set, which earlier replays use.
  class Set;
  [[nodiscard]] std::shared_ptr<Set> begin_set(std::uint64_t replays);
  // Restores the previous set after a failed update.
  void restore_set(std::shared_ptr<Set> before) noexcept { set_ = std::move(before); }
  // The times of `command`, which was added, from now on. Outlives this object. One thread at a
  // time, as add().
  [[nodiscard]] std::shared_ptr<const HostTimes> time(std::uint32_t command);
  // The function of a host node.
  static void run(void* call) noexcept;
  [[nodiscard]] CallbackErrors& errors() noexcept { return errors_; }

 private:
  std::shared_ptr<Set> set_;
  CallbackErrors errors_;
};

class HostCallbacks::Set {
 public:
  explicit Set(std::uint64_t replays) : replays_(replays) {}

 private:
  friend class HostCallbacks;
  const std::uint64_t replays_;
  std::deque<Call> calls_;
  std::unordered_map<std::uint32_t, Call*> call_of_;  // by command
};

}  // namespace reprise::detail

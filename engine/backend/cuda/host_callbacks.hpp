// HostCallbacks: the host callbacks of one executable graph, and their exceptions. No exception
// propagates into CUDA. Threads: CUDA calls from its own thread; error() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "backend/cuda/host_times.hpp"

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
  // The exception of replay `replay` (from 1); of several, that of the lowest command. Null if
  // there is none.
  [[nodiscard]] std::exception_ptr error(std::uint64_t replay) const;

 private:
  struct Thrown {
    std::uint32_t command = 0;
    std::exception_ptr error;
  };
  void run_function(const Call& call, std::uint64_t replay) noexcept;
  void record_error(std::uint64_t replay, std::uint32_t command, std::exception_ptr error) noexcept;

  std::shared_ptr<Set> set_;
  std::atomic<bool> has_calls_{false};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Thrown> thrown_;  // by replay
  // The first replay whose exception was dropped for lack of memory; 0: none.
  std::uint64_t first_dropped_ = 0;
};

class HostCallbacks::Set {
 public:
  explicit Set(std::uint64_t replays) noexcept : replays_(replays) {}

 private:
  friend class HostCallbacks;
  const std::uint64_t replays_;
  std::deque<Call> calls_;
  std::unordered_map<std::uint32_t, Call*> call_of_;  // by command
};

}  // namespace reprise::detail

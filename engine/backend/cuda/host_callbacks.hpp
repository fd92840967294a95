// HostCallbacks: the host commands of one executable graph, as CUDA calls them back, and what they
// threw. Nothing thrown ever reaches CUDA. Threads: CUDA calls from a thread of its own; error()
// may come from any.
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
    std::uint64_t count = 0;  // times that it was called: the number of the replay, since replays
                              // of one exec follow each other
    std::atomic<HostTimes*> times{nullptr};  // null: nobody wants to know when it ran
    std::shared_ptr<HostTimes> kept = {};    // what times points to; set once
  };

  HostCallbacks();
  HostCallbacks(const HostCallbacks&) = delete;
  HostCallbacks& operator=(const HostCallbacks&) = delete;

  // What a host node takes as user data; the same for all nodes of one command, whichever
  // executable they are in. Stays where it is. `function` outlives this. One thread at a time.
  // Commands of what the recording runs count on from its own.
  [[nodiscard]] Call* add(const std::function<void()>& function, std::uint32_t command);
  // Calls that are added from now on are of a new set, whose first replay comes after `replays`;
  // the set so far, which replays up to then use.
  class Set;
  [[nodiscard]] std::shared_ptr<Set> begin_set(std::uint64_t replays);
  // Goes back to that set, as if the other had never been.
  void end_set(std::shared_ptr<Set> before) noexcept { set_ = std::move(before); }
  // When `command`, which was added, runs from now on. Outlives this. One thread at a time, as
  // add().
  [[nodiscard]] std::shared_ptr<const HostTimes> time(std::uint32_t command);
  // The function of a host node.
  static void run(void* call) noexcept;
  // What replay `replay` (from 1) threw; of several the one of the lowest command. Null if nothing.
  [[nodiscard]] std::exception_ptr error(std::uint64_t replay) const;

 private:
  struct Thrown {
    std::uint32_t command = 0;
    std::exception_ptr what;
  };
  void run_function(const Call& call, std::uint64_t replay) noexcept;
  void keep(std::uint64_t replay, std::uint32_t command, std::exception_ptr what) noexcept;

  std::shared_ptr<Set> set_;
  std::atomic<bool> has_calls_{false};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Thrown> thrown_;  // by replay
  std::uint64_t first_unkept_ =
      0;  // the first replay that threw what there was no memory to keep; 0: none
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

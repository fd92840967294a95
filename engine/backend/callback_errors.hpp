// CallbackErrors: runs the host callbacks of an executable and keeps what they throw, by replay.
// Threads: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "base/failure.hpp"

namespace reprise::detail {

class CallbackErrors {
 public:
  static constexpr std::size_t kKept = 1024;  // replays

  CallbackErrors() = default;
  CallbackErrors(const CallbackErrors&) = delete;
  CallbackErrors& operator=(const CallbackErrors&) = delete;
  ~CallbackErrors() { unseen_in_process_ -= unseen_; }

  // Calls `callback` for replay `replay`; replays ascend, and the callbacks of one replay may run
  // on several threads. Keeps what it throws: of several exceptions of a replay, that of the lowest
  // command. Only the last kKept replays with an exception are kept.
  template <class Callback>
  void run(const Callback& callback, std::uint64_t replay, std::uint32_t command) noexcept {
    const bool was_inside = std::exchange(in_host_callback, true);
    if (std::exception_ptr error = exception_of(callback)) add(replay, command, std::move(error));
    in_host_callback = was_inside;
  }

  // The exception of a replay, or null. It counts as seen from now on.
  [[nodiscard]] std::exception_ptr of(std::uint64_t replay) noexcept {
    const std::lock_guard lock(mutex_);
    for (Thrown& thrown : thrown_) {
      if (thrown.replay != replay) continue;
      if (!std::exchange(thrown.is_seen, true)) count_unseen(-1);
      return thrown.error;
    }
    return nullptr;
  }

  // The exceptions that nobody has seen, which count as seen from now on.
  struct Unseen {
    std::uint64_t replays = 0;
    std::exception_ptr last;  // null without memory for it
  };
  [[nodiscard]] Unseen take_unseen() noexcept {
    const std::lock_guard lock(mutex_);
    Unseen unseen{.replays = unseen_, .last = nullptr};
    count_unseen(-static_cast<std::int64_t>(unseen_));
    for (Thrown& thrown : thrown_) {
      if (!std::exchange(thrown.is_seen, true)) unseen.last = thrown.error;
    }
    return unseen;
  }

  // False if take_unseen() would return nothing for every executable of the process.
  [[nodiscard]] static bool any_unseen() noexcept { return unseen_in_process_ != 0; }

 private:
  struct Thrown {
    std::uint64_t replay = 0;
    std::uint32_t command = 0;
    bool is_seen = false;
    std::exception_ptr error;
  };

  void add(std::uint64_t replay, std::uint32_t command, std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!thrown_.empty() && thrown_.back().replay == replay) {
      if (command < thrown_.back().command)
        thrown_.back() = {replay, command, thrown_.back().is_seen, std::move(error)};
      return;
    }
    count_unseen(1);
    try {
      thrown_.push_back({replay, command, false, std::move(error)});
    } catch (const std::bad_alloc&) {
      // The replay counts as unseen.
    }
    if (thrown_.size() > kKept) thrown_.pop_front();
  }

  void count_unseen(std::int64_t change) noexcept {
    unseen_ += static_cast<std::uint64_t>(change);
    unseen_in_process_ += static_cast<std::uint64_t>(change);
  }

  static inline std::atomic<std::uint64_t> unseen_in_process_{0};
  std::mutex mutex_;
  std::deque<Thrown> thrown_;  // replays ascend
  std::uint64_t unseen_ = 0;   // replays, including those that are not kept
};

}  // namespace reprise::detail

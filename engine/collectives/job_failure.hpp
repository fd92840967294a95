// JobFailure: the first failure of a job, which all later calls of its transports throw. Threads:
// any; is_set() is one atomic load.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "base/failure.hpp"

namespace reprise::detail {

class JobFailure {
 public:
  // Only the first failure counts.
  void set(ErrorCode code, std::string reason) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_set()) return;
    code_ = code;
    reason_ = std::move(reason);
    is_set_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_set() const noexcept { return is_set_.load(std::memory_order_acquire); }
  void throw_if_set(Stage stage) const {
    if (is_set()) fail(code_, stage, {}, reason_);
  }

 private:
  std::mutex mutex_;  // between calls of set(); the other members do not change once is_set_
  std::atomic<bool> is_set_{false};
  ErrorCode code_ = ErrorCode::RankLost;
  std::string reason_;
};

}  // namespace reprise::detail

// RateLimit: permits a burst of events, then a number per second. Time comes from the caller.
// Threads: any.
#pragma once

#include <algorithm>
#include <mutex>

#include "trace/records.hpp"

namespace reprise::detail {

class RateLimit {
 public:
  struct Desc {
    double burst = 1, per_second = 1;
  };
  explicit RateLimit(const Desc& desc) : desc_(desc), available_(desc.burst) {}

  // Whether an event at `now` is permitted; then it counts.
  [[nodiscard]] bool take(trace::Time now) noexcept {
    const std::lock_guard lock(mutex_);
    if (last_ == 0) last_ = now;
    if (now > last_) {
      available_ = std::min(
          desc_.burst, available_ + static_cast<double>(now - last_) * 1e-9 * desc_.per_second);
      last_ = now;
    }
    if (available_ < 1) return false;
    available_ -= 1;
    return true;
  }

 private:
  const Desc desc_;
  std::mutex mutex_;
  double available_;      // guarded by mutex_
  trace::Time last_ = 0;  // guarded by mutex_
};

}  // namespace reprise::detail

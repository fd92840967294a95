// ReplayNumbers: which replay of its graph a stamped launch was. Timestamps count the launches that
// they are part of, and a graph may be launched without them for a while: stretches, each with how
// many launches before it had no stamps. A fixed number of them waits to be asked for; of more, the
// oldest are forgotten. Knows no CUDA. Threads: skip() from the thread that launches, replay() from
// whoever collects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace reprise::detail {

class ReplayNumbers {
 public:
  static constexpr std::size_t kStretches = 64;

  // From stamped launch number `stamped` on, replays are `skipped` further than stamps. Allocates
  // nothing.
  void skip(std::uint64_t timestamped, std::uint64_t skipped) noexcept {
    const std::lock_guard lock(mutex_);
    if (count_ != 0 && stretches_[count_ - 1].from == timestamped) {
      --count_;  // no launch came between
    } else if (count_ == kStretches) {
      drop(1);
    }
    stretches_[count_++] = {timestamped, skipped};
  }

  // 0: it was forgotten. Asked for in ascending order.
  [[nodiscard]] std::uint64_t replay(std::uint64_t timestamped) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t over = 0;
    while (over + 1 < count_ && stretches_[over + 1].from <= timestamped) ++over;
    drop(over);
    return stretches_[0].from <= timestamped ? timestamped + stretches_[0].skipped : 0;
  }

 private:
  struct Stretch {
    std::uint64_t from = 1, skipped = 0;
  };
  void drop(std::size_t oldest) noexcept {
    if (oldest == 0) return;
    for (std::size_t i = oldest; i < count_; ++i) stretches_[i - oldest] = stretches_[i];
    count_ -= oldest;
  }

  std::mutex mutex_;
  std::array<Stretch, kStretches> stretches_{};
  std::size_t count_ = 1;
};

}  // namespace reprise::detail

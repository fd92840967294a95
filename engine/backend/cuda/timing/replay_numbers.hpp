// ReplayNumbers: maps timestamp numbers to replay numbers of a graph. Timestamps number the
// launches that contain them, and a graph may run without timestamps for a while. A stretch is a
// range of launches with the same difference between the two numbers. The number of stretches is
// limited; the oldest are dropped. Knows no CUDA. Threads: skip() from the launching thread,
// replay() from the collecting thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace reprise::detail {

class ReplayNumbers {
 public:
  static constexpr std::size_t kStretches = 64;

  // From timestamp number `timestamped` on, replay numbers are larger by `skipped`. Does not
  // allocate.
  void skip(std::uint64_t timestamped, std::uint64_t skipped) noexcept {
    const std::lock_guard lock(mutex_);
    if (count_ != 0 && stretches_[count_ - 1].from == timestamped) {
      --count_;  // no launch in between
    } else if (count_ == kStretches) {
      drop(1);
    }
    stretches_[count_++] = {timestamped, skipped};
  }

  // Returns 0 for a dropped stretch. Arguments ascend.
  [[nodiscard]] std::uint64_t replay(std::uint64_t timestamped) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t first = 0;
    while (first + 1 < count_ && stretches_[first + 1].from <= timestamped) ++first;
    drop(first);
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

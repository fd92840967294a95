// TimeHistogram: running statistics of durations, small and cheap to copy, because a document holds
// one for every node and publishes them again and again. Buckets are exact below 64 ns and 1/64 of
// their value wide above, so that a quantile is off by at most kRelativeError of itself; count,
// sum, least and greatest are exact. Memory: 4 bytes for each bucket between the least and the
// greatest value, 64 for a factor of two. Threads: values.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace reprise::model {

class TimeHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 64;

  struct Bucket {
    std::int64_t lowest = 0, width = 1;  // ns
    std::uint32_t count = 0;             // saturates
  };

  void add(std::int64_t nanoseconds);  // below 0 counts as 0
  void add(const TimeHistogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t sum() const noexcept { return sum_; }  // saturates
  [[nodiscard]] std::int64_t least() const noexcept { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::int64_t greatest() const noexcept { return greatest_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  // The value that `fraction` of [0, 1] of the values are not above, by nearest rank. 0 if empty.
  [[nodiscard]] double quantile(double fraction) const;
  [[nodiscard]] double median() const { return quantile(0.5); }
  // Those that hold anything, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  void widen(std::uint32_t bucket);

  std::vector<std::uint32_t> counts_;
  std::uint32_t first_ = 0;  // bucket of counts_[0]
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0, least_ = std::numeric_limits<std::int64_t>::max(), greatest_ = 0;
};

}  // namespace reprise::model

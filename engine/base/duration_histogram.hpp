// DurationHistogram: running statistics of durations in ns, in buckets whose width grows with the
// value. Values below 2^kBits have exact buckets; above, each power of two has 2^kBits buckets, so
// a quantile is off by at most kRelativeError of itself. Count, sum, minimum and maximum are exact.
// Memory: 68 bytes for each 16 neighbouring buckets of which one has a value, so few values take
// little whatever their spread. Knows nothing about traces. Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace reprise::detail {

class DurationHistogram {
 public:
  static constexpr int kBits = 10;
  static constexpr double kRelativeError = 1.0 / (1 << kBits);

  struct Bucket {
    std::int64_t lowest = 0, width = 1;
    std::uint32_t count = 0;
  };

  // Negative values count as 0. Counts of buckets and the sum saturate.
  void add(std::int64_t value);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::int64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const noexcept { return max_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  // The value at quantile_rank(). Values are assumed to be spread evenly within a bucket. 0 if
  // empty.
  [[nodiscard]] double quantile(double fraction) const;
  // Non-empty buckets, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  struct Page {  // neighbouring buckets
    std::uint32_t index = 0;
    std::array<std::uint32_t, 16> counts{};
  };

  // Calls `each` with the non-empty buckets, ascending, until it returns false.
  template <class Each>
  void for_each_bucket(Each each) const;

  std::vector<Page> pages_;  // by index
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0, min_ = std::numeric_limits<std::int64_t>::max(), max_ = 0;
};

}  // namespace reprise::detail

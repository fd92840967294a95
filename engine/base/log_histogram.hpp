// LogHistogram: running statistics of non-negative integers, such as durations in ns, in buckets
// whose width grows with the value. Values below 2^kBits have exact buckets; above, each power of
// two has 2^kBits buckets, so a quantile is off by at most kRelativeError of itself. Count, sum,
// minimum and maximum are exact. Memory: one Count for each bucket between the minimum and the
// maximum, independent of the number of values. Knows nothing about traces. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace reprise::detail {

// Instantiated for <6, std::uint32_t> and <8, std::uint64_t>.
template <int kBits, class Count>
class LogHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / (1 << kBits);

  struct Bucket {
    std::int64_t lowest = 0, width = 1;
    Count count = 0;
  };

  // Negative values count as 0. Counts and the sum saturate.
  void add(std::int64_t value);
  void add(const LogHistogram& other);

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
  static constexpr std::uint32_t kSteps = std::uint32_t{1} << kBits;  // buckets per power of two

  [[nodiscard]] static std::uint32_t index_of(std::int64_t value);
  [[nodiscard]] static Bucket bucket_at(std::uint32_t index, Count count);
  void extend_to(std::uint32_t index);
  [[nodiscard]] double value_at(std::uint64_t rank) const;  // from 0

  std::vector<Count> counts_;
  std::uint32_t first_ = 0;  // index of counts_[0]
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0, min_ = std::numeric_limits<std::int64_t>::max(), max_ = 0;
};

// Statistics of a whole trace: precise.
using DurationHistogram = LogHistogram<8, std::uint64_t>;
// Small and cheap to copy: a document holds one for each node and is published repeatedly.
using CompactDurationHistogram = LogHistogram<6, std::uint32_t>;

}  // namespace reprise::detail

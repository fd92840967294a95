// DurationHistogram: counts durations in buckets whose width grows with their value, so that its
// memory depends on the spread of the values (2 KiB for each factor of two that occurs) and never
// on their number. Values below 256 are exact; a larger one is known to 1/256 of itself, and a
// quantile is interpolated within its bucket, so that it is off by less than kRelativeError. Count,
// total, least and greatest are exact. Knows no record. Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace reprise::trace {

class DurationHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 256;

  struct Bucket {
    std::int64_t lowest = 0;  // value
    std::int64_t width = 1;
    std::uint64_t count = 0;
  };

  // A negative value counts as 0.
  void add(std::int64_t value);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }
  [[nodiscard]] std::int64_t least() const noexcept { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::int64_t greatest() const noexcept { return greatest_; }
  [[nodiscard]] double mean() const noexcept;
  // `fraction` in [0, 1]: the value with that part of the values below it; between two values their
  // interpolation. 0 if empty.
  [[nodiscard]] double quantile(double fraction) const;
  // Those that hold anything, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  static constexpr int kBits = 8;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  using Octave = std::array<std::uint64_t, kBuckets>;

  [[nodiscard]] double value_at(std::uint64_t rank) const;

  std::vector<std::unique_ptr<Octave>> octaves_;  // [0]: below 256; [i]: from 2^(i + 7)
  std::uint64_t count_ = 0;
  std::int64_t total_ = 0, least_ = std::numeric_limits<std::int64_t>::max(), greatest_ = 0;
};

}  // namespace reprise::trace

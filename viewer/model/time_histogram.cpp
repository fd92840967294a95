#include "model/time_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reprise::model {

namespace {

constexpr int kBits = 6;
constexpr std::uint32_t kSteps = 1u << kBits;  // of a factor of two

std::uint32_t bucket_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < kSteps) return static_cast<std::uint32_t>(v);
  const int shift = static_cast<int>(std::bit_width(v)) - kBits - 1;
  return static_cast<std::uint32_t>(shift) * kSteps + static_cast<std::uint32_t>(v >> shift);
}

TimeHistogram::Bucket bucket_at(std::uint32_t index, std::uint32_t count) {
  if (index < 2 * kSteps) return {static_cast<std::int64_t>(index), 1, count};
  const std::uint32_t shift = index / kSteps - 1;
  const auto mantissa = static_cast<std::int64_t>(index - shift * kSteps);
  return {mantissa << shift, std::int64_t{1} << shift, count};
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max()
                                                          : a + b;
}

std::uint32_t saturating_sum(std::uint32_t a, std::uint32_t b) {
  return a > std::numeric_limits<std::uint32_t>::max() - b
             ? std::numeric_limits<std::uint32_t>::max()
             : a + b;
}

}  // namespace

void TimeHistogram::widen(std::uint32_t bucket) {
  if (counts_.empty()) {
    first_ = bucket;
    counts_.resize(1);
  } else if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  } else if (bucket - first_ >= counts_.size()) {
    counts_.resize(bucket - first_ + 1);
  }
}

void TimeHistogram::add(std::int64_t nanoseconds) {
  const std::int64_t v = std::max<std::int64_t>(nanoseconds, 0);
  const std::uint32_t bucket = bucket_of(v);
  widen(bucket);
  counts_[bucket - first_] = saturating_sum(counts_[bucket - first_], std::uint32_t{1});
  ++count_;
  sum_ = saturating_sum(sum_, v);
  least_ = std::min(least_, v);
  greatest_ = std::max(greatest_, v);
}

void TimeHistogram::add(const TimeHistogram& other) {
  if (other.count_ == 0) return;
  widen(other.first_);
  widen(other.first_ + static_cast<std::uint32_t>(other.counts_.size()) - 1);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    std::uint32_t& mine = counts_[other.first_ - first_ + i];
    mine = saturating_sum(mine, other.counts_[i]);
  }
  count_ += other.count_;
  sum_ = saturating_sum(sum_, other.sum_);
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

double TimeHistogram::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_));
  const std::uint64_t rank = std::max<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1);
  std::uint64_t before = 0;
  for (const Bucket& b : buckets()) {
    if (before + b.count >= rank) {
      const double part = (static_cast<double>(rank - before) - 0.5) / static_cast<double>(b.count);
      const double value =
          b.width == 1 ? static_cast<double>(b.lowest)
                       : static_cast<double>(b.lowest) + part * static_cast<double>(b.width);
      return std::clamp(value, static_cast<double>(least_), static_cast<double>(greatest_));
    }
    before += b.count;
  }
  return static_cast<double>(greatest_);
}

std::vector<TimeHistogram::Bucket> TimeHistogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0)
      filled.push_back(bucket_at(first_ + static_cast<std::uint32_t>(i), counts_[i]));
  }
  return filled;
}

}  // namespace reprise::model

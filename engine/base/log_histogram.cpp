#include "base/log_histogram.hpp"

#include <algorithm>
#include <bit>

#include "base/quantile_rank.hpp"

namespace reprise::detail {

namespace {

template <class T>
T saturating_sum(T a, T b) {
  return a > std::numeric_limits<T>::max() - b ? std::numeric_limits<T>::max() : a + b;
}

}  // namespace

template <int kBits, class Count>
std::uint32_t LogHistogram<kBits, Count>::index_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < kSteps) return static_cast<std::uint32_t>(v);
  const int shift = static_cast<int>(std::bit_width(v)) - kBits - 1;
  return static_cast<std::uint32_t>(shift) * kSteps + static_cast<std::uint32_t>(v >> shift);
}

template <int kBits, class Count>
auto LogHistogram<kBits, Count>::bucket_at(std::uint32_t index, Count count) -> Bucket {
  if (index < 2 * kSteps) return {static_cast<std::int64_t>(index), 1, count};
  const std::uint32_t shift = index / kSteps - 1;
  const auto mantissa = static_cast<std::int64_t>(index - shift * kSteps);
  return {mantissa << shift, std::int64_t{1} << shift, count};
}

template <int kBits, class Count>
void LogHistogram<kBits, Count>::extend_to(std::uint32_t index) {
  if (counts_.empty()) {
    first_ = index;
    counts_.resize(1);
  } else if (index < first_) {
    counts_.insert(counts_.begin(), first_ - index, 0);
    first_ = index;
  } else if (index - first_ >= counts_.size()) {
    counts_.resize(index - first_ + 1);
  }
}

template <int kBits, class Count>
void LogHistogram<kBits, Count>::add(std::int64_t value) {
  const std::int64_t v = std::max<std::int64_t>(value, 0);
  const std::uint32_t index = index_of(v);
  extend_to(index);
  Count& count = counts_[index - first_];
  count = saturating_sum(count, Count{1});
  ++count_;
  sum_ = saturating_sum(sum_, v);
  min_ = std::min(min_, v);
  max_ = std::max(max_, v);
}

template <int kBits, class Count>
void LogHistogram<kBits, Count>::add(const LogHistogram& other) {
  if (other.count_ == 0) return;
  extend_to(other.first_);
  extend_to(other.first_ + static_cast<std::uint32_t>(other.counts_.size()) - 1);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    Count& count = counts_[other.first_ - first_ + i];
    count = saturating_sum(count, other.counts_[i]);
  }
  count_ += other.count_;
  sum_ = saturating_sum(sum_, other.sum_);
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

template <int kBits, class Count>
double LogHistogram<kBits, Count>::value_at(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (rank >= before + counts_[i]) {
      before += counts_[i];
      continue;
    }
    const Bucket b = bucket_at(first_ + static_cast<std::uint32_t>(i), counts_[i]);
    if (b.width == 1) return static_cast<double>(b.lowest);
    const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(b.count);
    const double value = static_cast<double>(b.lowest) + part * static_cast<double>(b.width);
    return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

template <int kBits, class Count>
double LogHistogram<kBits, Count>::quantile(double fraction) const {
  return count_ == 0 ? 0 : value_at(quantile_rank(fraction, count_));
}

template <int kBits, class Count>
auto LogHistogram<kBits, Count>::buckets() const -> std::vector<Bucket> {
  std::vector<Bucket> filled;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0)
      filled.push_back(bucket_at(first_ + static_cast<std::uint32_t>(i), counts_[i]));
  }
  return filled;
}

template class LogHistogram<6, std::uint32_t>;
template class LogHistogram<8, std::uint64_t>;

}  // namespace reprise::detail

#include "base/duration_histogram.hpp"

#include <algorithm>
#include <bit>

#include "base/quantile_rank.hpp"

namespace reprise::detail {

namespace {

constexpr int kBits = DurationHistogram::kBits;
constexpr std::uint32_t kSteps = std::uint32_t{1} << kBits;  // buckets per power of two

template <class T>
T saturating_sum(T a, T b) {
  return a > std::numeric_limits<T>::max() - b ? std::numeric_limits<T>::max() : a + b;
}

std::uint32_t index_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < kSteps) return static_cast<std::uint32_t>(v);
  const int shift = static_cast<int>(std::bit_width(v)) - kBits - 1;
  return static_cast<std::uint32_t>(shift) * kSteps + static_cast<std::uint32_t>(v >> shift);
}

DurationHistogram::Bucket bucket_at(std::uint32_t index, std::uint32_t count) {
  if (index < 2 * kSteps) return {static_cast<std::int64_t>(index), 1, count};
  const std::uint32_t shift = index / kSteps - 1;
  const auto mantissa = static_cast<std::int64_t>(index - shift * kSteps);
  return {mantissa << shift, std::int64_t{1} << shift, count};
}

}  // namespace

void DurationHistogram::add(std::int64_t value) {
  const std::int64_t v = std::max<std::int64_t>(value, 0);
  const std::uint32_t index = index_of(v);
  auto at = std::lower_bound(counts_.begin(), counts_.end(), index,
                             [](const Counted& c, std::uint32_t i) { return c.index < i; });
  if (at == counts_.end() || at->index != index) at = counts_.insert(at, {index, 0});
  at->count = saturating_sum(at->count, std::uint32_t{1});
  ++count_;
  sum_ = saturating_sum(sum_, v);
  min_ = std::min(min_, v);
  max_ = std::max(max_, v);
}

double DurationHistogram::value_at(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (const Counted& c : counts_) {
    if (rank >= before + c.count) {
      before += c.count;
      continue;
    }
    const Bucket b = bucket_at(c.index, c.count);
    if (b.width == 1) return static_cast<double>(b.lowest);
    const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(b.count);
    const double value = static_cast<double>(b.lowest) + part * static_cast<double>(b.width);
    return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

double DurationHistogram::quantile(double fraction) const {
  return count_ == 0 ? 0 : value_at(quantile_rank(fraction, count_));
}

std::vector<DurationHistogram::Bucket> DurationHistogram::buckets() const {
  std::vector<Bucket> filled;
  filled.reserve(counts_.size());
  for (const Counted& c : counts_) filled.push_back(bucket_at(c.index, c.count));
  return filled;
}

}  // namespace reprise::detail

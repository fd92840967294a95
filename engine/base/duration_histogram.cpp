#include "base/duration_histogram.hpp"

#include <algorithm>
#include <bit>

#include "base/quantile_rank.hpp"

namespace reprise::detail {

namespace {

constexpr int kBits = DurationHistogram::kBits;
constexpr std::uint32_t kSteps = std::uint32_t{1} << kBits;  // buckets per power of two
constexpr std::uint32_t kPage = 16;                          // buckets

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
  const std::uint32_t index = index_of(v), page = index / kPage;
  auto at = std::lower_bound(pages_.begin(), pages_.end(), page,
                             [](const Page& p, std::uint32_t i) { return p.index < i; });
  if (at == pages_.end() || at->index != page) at = pages_.insert(at, {page, {}});
  std::uint32_t& count = at->counts[index % kPage];
  count = saturating_sum(count, std::uint32_t{1});
  ++count_;
  sum_ = saturating_sum(sum_, v);
  min_ = std::min(min_, v);
  max_ = std::max(max_, v);
}

template <class Each>
void DurationHistogram::for_each_bucket(Each each) const {
  for (const Page& page : pages_) {
    for (std::uint32_t i = 0; i < kPage; ++i) {
      if (page.counts[i] != 0 && !each(bucket_at(page.index * kPage + i, page.counts[i]))) return;
    }
  }
}

double DurationHistogram::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank = quantile_rank(fraction, count_);
  auto value = static_cast<double>(max_);  // if a count saturated
  std::uint64_t before = 0;
  for_each_bucket([&](const Bucket& b) {
    if (rank >= before + b.count) {
      before += b.count;
      return true;
    }
    value = static_cast<double>(b.lowest);
    if (b.width == 1) return false;
    const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(b.count);
    value = std::clamp(value + part * static_cast<double>(b.width), static_cast<double>(min_),
                       static_cast<double>(max_));
    return false;
  });
  return value;
}

std::vector<DurationHistogram::Bucket> DurationHistogram::buckets() const {
  std::vector<Bucket> filled;
  for_each_bucket([&](const Bucket& b) {
    filled.push_back(b);
    return true;
  });
  return filled;
}

}  // namespace reprise::detail

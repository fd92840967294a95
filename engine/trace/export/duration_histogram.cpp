#include "trace/export/duration_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reprise::trace {

void DurationHistogram::add(std::int64_t value) {
  const std::int64_t v = std::max<std::int64_t>(value, 0);
  const auto bits = static_cast<std::uint64_t>(v);
  const int top = std::bit_width(bits);  // values of octave i >= 1 have kBits + i bits
  const std::size_t octave = top <= kBits ? 0 : static_cast<std::size_t>(top - kBits);
  // The first bit of a value in octave i >= 1 is always 1: the kBits after it choose the bucket.
  const std::size_t bucket = octave == 0 ? bits : (bits >> (octave - 1)) & (kBuckets - 1);
  if (octaves_.size() <= octave) octaves_.resize(octave + 1);
  if (!octaves_[octave]) octaves_[octave] = std::make_unique<Octave>();
  ++(*octaves_[octave])[bucket];
  ++count_;
  total_ = total_ > std::numeric_limits<std::int64_t>::max() - v
               ? std::numeric_limits<std::int64_t>::max()
               : total_ + v;
  least_ = std::min(least_, v);
  greatest_ = std::max(greatest_, v);
}

double DurationHistogram::mean() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(count_);
}

std::vector<DurationHistogram::Bucket> DurationHistogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::size_t octave = 0; octave < octaves_.size(); ++octave) {
    if (!octaves_[octave]) continue;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t n = (*octaves_[octave])[i];
      if (n == 0) continue;
      const auto index = static_cast<std::int64_t>(i);
      if (octave == 0) {
        filled.push_back({index, 1, n});
      } else {
        filled.push_back({(static_cast<std::int64_t>(kBuckets) + index) << (octave - 1),
                          std::int64_t{1} << (octave - 1), n});
      }
    }
  }
  return filled;
}

// The value with `rank` values before it, as if those of a bucket were spread evenly over it.
double DurationHistogram::value_at(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (const Bucket& b : buckets()) {
    if (rank < before + b.count) {
      if (b.width == 1) return static_cast<double>(b.lowest);
      const double part = (static_cast<double>(rank - before) + 0.5) / static_cast<double>(b.count);
      const double value = static_cast<double>(b.lowest) + part * static_cast<double>(b.width);
      return std::clamp(value, static_cast<double>(least_), static_cast<double>(greatest_));
    }
    before += b.count;
  }
  return static_cast<double>(greatest_);
}

double DurationHistogram::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const double position = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(position);
  const double part = position - std::floor(position);
  const double low = value_at(below);
  return part == 0 ? low : low + part * (value_at(std::min(below + 1, count_ - 1)) - low);
}

}  // namespace reprise::trace

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/duration_histogram.hpp"

using reprise::detail::DurationHistogram;

namespace {

// The value of the nearest rank.
double exact_quantile(const std::vector<std::int64_t>& sorted, double fraction) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

}  // namespace

TEST_CASE("duration histogram: an empty histogram has zero statistics") {
  const DurationHistogram h;
  CHECK(h.count() == 0);
  CHECK(h.sum() == 0);
  CHECK(h.min() == 0);
  CHECK(h.max() == 0);
  CHECK(h.mean() == 0);
  CHECK(h.quantile(0.5) == 0);
  CHECK(h.buckets().empty());
}

TEST_CASE("duration histogram: small values and their quantiles are exact") {
  DurationHistogram h;
  for (const int v : {5, 1, 4, 2, 3, 255}) h.add(v);
  CHECK(h.quantile(0) == 1);
  CHECK(h.quantile(0.2) == 2);
  CHECK(h.quantile(0.5) == 3);
  CHECK(h.quantile(0.9) == 255);  // not between 5 and 255
  CHECK(h.quantile(1) == 255);
  CHECK(h.sum() == 270);
  CHECK(h.mean() == 45);
}

TEST_CASE("duration histogram: quantiles are within the stated error") {
  const unsigned seed = 20;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const int bits : {6, 12, 20, 31, 50, 62}) {
    DurationHistogram h;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 3'000; ++i) {
      values.push_back(static_cast<std::int64_t>(random() >> (64 - bits)));
      h.add(values.back());
    }
    std::sort(values.begin(), values.end());
    CHECK(h.min() == values.front());
    CHECK(h.max() == values.back());
    CHECK(h.count() == values.size());
    for (const double q : {0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0}) {
      const double exact = exact_quantile(values, q);
      CHECK(std::abs(h.quantile(q) - exact) <= exact * DurationHistogram::kRelativeError + 1e-9);
    }
  }
}

TEST_CASE("duration histogram: buckets are ascending and cover every value once") {
  DurationHistogram h;
  std::vector<std::int64_t> values;
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t d : {-1, 0, 1}) values.push_back((std::int64_t{1} << bit) + d);
  }
  values.push_back(std::numeric_limits<std::int64_t>::max());
  for (const std::int64_t v : values) h.add(v);
  const auto buckets = h.buckets();
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto& b = buckets[i];
    if (i > 0) CHECK(b.lowest >= buckets[i - 1].lowest + buckets[i - 1].width);
    const auto inside = std::count_if(values.begin(), values.end(), [&](std::int64_t v) {
      return v >= b.lowest && v - b.lowest < b.width;
    });
    CHECK(static_cast<std::uint64_t>(inside) == b.count);
    counted += b.count;
  }
  CHECK(counted == values.size());
}

TEST_CASE("duration histogram: negative values count as 0, and the sum saturates") {
  DurationHistogram h;
  h.add(-5);
  CHECK(h.min() == 0);
  CHECK(h.max() == 0);
  for (int i = 0; i < 3; ++i) h.add(std::numeric_limits<std::int64_t>::max());
  CHECK(h.sum() == std::numeric_limits<std::int64_t>::max());
  CHECK(h.count() == 4);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "trace/export/duration_histogram.hpp"

using reprise::trace::DurationHistogram;

namespace {

double exact_quantile(const std::vector<std::int64_t>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return static_cast<double>(sorted[below]) +
         (position - static_cast<double>(below)) *
             static_cast<double>(sorted[above] - sorted[below]);
}

}  // namespace

TEST_CASE("duration histogram: what is empty has no figures") {
  const DurationHistogram h;
  CHECK(h.count() == 0);
  CHECK(h.total() == 0);
  CHECK(h.least() == 0);
  CHECK(h.greatest() == 0);
  CHECK(h.mean() == 0);
  CHECK(h.quantile(0.5) == 0);
  CHECK(h.buckets().empty());
}

TEST_CASE("duration histogram: small values and their quantiles are exact") {
  DurationHistogram h;
  for (const int v : {5, 1, 4, 2, 3, 255}) h.add(v);
  CHECK(h.quantile(0) == 1);
  CHECK(h.quantile(0.2) == 2);
  CHECK(h.quantile(0.5) == 3.5);
  CHECK(h.quantile(1) == 255);
  CHECK(h.total() == 270);
  CHECK(h.mean() == 45);
}

TEST_CASE("duration histogram: quantiles of any values are within the stated error") {
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
    CHECK(h.least() == values.front());
    CHECK(h.greatest() == values.back());
    CHECK(h.count() == values.size());
    for (const double q : {0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0}) {
      const double exact = exact_quantile(values, q);
      CHECK(std::abs(h.quantile(q) - exact) <= exact * DurationHistogram::kRelativeError + 1e-9);
    }
  }
}

TEST_CASE("duration histogram: buckets cover every value once, ascending") {
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

TEST_CASE("duration histogram: negative values count as 0 and totals stop at the greatest number") {
  DurationHistogram h;
  h.add(-5);
  CHECK(h.least() == 0);
  CHECK(h.greatest() == 0);
  for (int i = 0; i < 3; ++i) h.add(std::numeric_limits<std::int64_t>::max());
  CHECK(h.total() == std::numeric_limits<std::int64_t>::max());
  CHECK(h.count() == 4);
}

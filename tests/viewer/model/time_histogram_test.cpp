#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "model/time_histogram.hpp"

using namespace reprise;

TEST_CASE("time histogram: quantiles are as exact as it says, the rest is exact") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    model::TimeHistogram h, left, right;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 3'000; ++i) {
      const auto v = static_cast<std::int64_t>(random() >> (20 + random() % 40));
      values.push_back(v);
      h.add(v);
      (i % 3 == 0 ? left : right).add(v);
    }
    left.add(right);
    std::sort(values.begin(), values.end());
    for (const model::TimeHistogram* x : {&h, &left}) {
      CHECK(x->count() == values.size());
      CHECK(x->least() == values.front());
      CHECK(x->greatest() == values.back());
      CHECK(x->sum() == std::accumulate(values.begin(), values.end(), std::int64_t{0}));
      for (const double q : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
        const auto rank = std::max<std::size_t>(
            static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))), 1);
        const auto exact = static_cast<double>(values[rank - 1]);
        CHECK(std::abs(x->quantile(q) - exact) <= exact * model::TimeHistogram::kRelativeError);
      }
    }
  }
  CHECK(model::TimeHistogram().quantile(0.5) == 0);
}

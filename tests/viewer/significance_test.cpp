#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "model/significance.hpp"

using reprise::detail::DurationHistogram;
using reprise::model::compare;
using reprise::model::Comparison;

namespace {

DurationHistogram histogram(const std::vector<int>& values) {
  DurationHistogram h;
  for (const int v : values) h.add(v);
  return h;
}

}  // namespace

TEST_CASE("significance: the probability that b is longer counts every pair, and ties half") {
  const DurationHistogram a = histogram({1, 2, 2, 9}), b = histogram({2, 3, 8});
  // Pairs of (2, 3, 8) with (1, 2, 2, 9): 2 is longer than one and equal to two, 3 and 8 are longer
  // than three.
  CHECK(compare(a, b).b_is_longer == doctest::Approx((1 + 2 * 0.5 + 3 + 3) / 12.0));
  CHECK(compare(b, a).b_is_longer == doctest::Approx(1 - (1 + 2 * 0.5 + 3 + 3) / 12.0));
}

TEST_CASE("significance: p equals the textbook formula") {
  // Without ties: U = 12 of 64 pairs, mean 32, deviation sqrt(8 * 8 * 17 / 12), continuity 0.5.
  const DurationHistogram a = histogram({10, 20, 30, 40, 50, 60, 70, 80}),
                          b = histogram({15, 45, 65, 75, 85, 95, 96, 97});
  const double u = 1 + 4 + 6 + 7 + 8 * 4;
  const double z = (u - 32 - 0.5) / std::sqrt(8.0 * 8 * 17 / 12);
  CHECK(compare(a, b).p == doctest::Approx(std::erfc(z / std::sqrt(2.0))));
  CHECK(compare(a, b).p == doctest::Approx(compare(b, a).p));
}

TEST_CASE(
    "significance: equal sets, constant values, few samples and empty sets are not significant") {
  const DurationHistogram some = histogram({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                          one = histogram(std::vector<int>(20, 7)), few = histogram({900, 901});
  CHECK(compare(some, some).p == doctest::Approx(1));
  CHECK(compare(one, one).p == 1);
  CHECK(compare(some, few).p == 1);
  CHECK(compare(some, few).b_is_longer == 1);
  CHECK(compare(some, DurationHistogram()).p == 1);
  CHECK(compare(DurationHistogram(), some).b_is_longer == 0.5);
}

TEST_CASE(
    "significance: a small shift of many samples is found, and equal distributions rarely differ") {
  const unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto draw = [&](int shift) {
    DurationHistogram h;
    for (int i = 0; i < 400; ++i) h.add(100'000 + shift + static_cast<int>(random() % 10'000));
    return h;
  };
  int found = 0;
  for (int i = 0; i < 200; ++i) found += compare(draw(0), draw(0)).p < 0.01 ? 1 : 0;
  CHECK(found <= 8);  // 2 are expected
  CHECK(compare(draw(0), draw(2'000)).p < 1e-6);
  CHECK(compare(draw(0), draw(2'000)).b_is_longer > 0.6);
}

#include <doctest/doctest.h>

#include <vector>

#include "base/paired_ratios.hpp"

using namespace reprise::detail;

TEST_CASE("paired ratios: the result is the median ratio and its interval from order statistics") {
  std::vector<double> numerators, denominators;
  for (int i = 0; i < 21; ++i) {
    numerators.push_back(0.5 + 0.01 * i);
    denominators.push_back(1);
  }
  const RatioInterval ratio = ratio_interval(numerators, denominators);
  CHECK(ratio.median == doctest::Approx(0.6));
  CHECK(ratio.low == doctest::Approx(0.55));  // the 6th and the 16th of 21 values: 97.3 %
  CHECK(ratio.high == doctest::Approx(0.65));
}

TEST_CASE("paired ratios: few pairs give the full range, and no pairs give 1") {
  const RatioInterval few =
      ratio_interval(std::vector<double>{1, 2, 3}, std::vector<double>{1, 1, 1});
  CHECK(few.low == 1);
  CHECK(few.high == 3);
  const RatioInterval none = ratio_interval({}, {});
  CHECK(none.low == 1);
  CHECK(none.high == 1);
  CHECK(median_of({}) == 0);
  CHECK(median_of({4, 1, 3, 2}) == doctest::Approx(2.5));
}

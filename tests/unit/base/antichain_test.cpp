#include "base/antichain.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace reprise::test {

TEST_CASE("antichain: a thousand elements in chains give the heaviest of each chain") {
  constexpr std::uint32_t kChains = 25, kLength = 40;
  detail::OrderedPairs pairs;
  std::vector<std::uint64_t> weights(kChains * kLength);
  std::uint64_t expected = 0;
  for (std::uint32_t c = 0; c < kChains; ++c) {
    std::uint64_t heaviest = 0;
    for (std::uint32_t i = 0; i < kLength; ++i) {
      weights[c * kLength + i] = 1 + (c * 31 + i * 17) % 101;
      heaviest = std::max(heaviest, weights[c * kLength + i]);
      if (i != 0) pairs.emplace_back(c * kLength + i - 1, c * kLength + i);
    }
    expected += heaviest;
  }
  const auto sum_of = [&](const std::vector<std::uint32_t>& chosen) {
    std::uint64_t sum = 0;
    for (const std::uint32_t element : chosen) sum += weights[element];
    return sum;
  };
  const std::vector<std::uint32_t> chosen = detail::max_weight_antichain(weights, pairs);
  CHECK(chosen.size() == kChains);
  CHECK(sum_of(chosen) == expected);
  CHECK(std::is_sorted(chosen.begin(), chosen.end()));
  // Pairs that others imply change nothing.
  for (std::uint32_t c = 0; c < kChains; ++c)
    for (std::uint32_t i = 2; i < kLength; ++i) pairs.emplace_back(c * kLength, c * kLength + i);
  CHECK(sum_of(detail::max_weight_antichain(weights, pairs)) == expected);
}

TEST_CASE("antichain: elements without weight are left out") {
  CHECK(detail::max_weight_antichain({}, {}).empty());
  const std::vector<std::uint64_t> weights = {0, 3, 0, 2};
  CHECK(detail::max_weight_antichain(weights, {}) == std::vector<std::uint32_t>{1, 3});
  CHECK(detail::max_weight_antichain(weights, {{1, 3}}) == std::vector<std::uint32_t>{1});
}

}  // namespace reprise::test

// The definition of a quantile in every figure of the program: the value of the nearest rank.
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::detail {

// The index, in ascending order, of the value below or at which `fraction` of `count` values lie.
// `fraction` is clamped to [0, 1]; `count` is not 0.
[[nodiscard]] inline std::uint64_t quantile_rank(double fraction, std::uint64_t count) {
  const double rank = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count));
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(rank), 1) - 1;
}

// The quantile of values, of which there is at least one. Reorders them.
template <class T>
[[nodiscard]] T quantile_of(std::vector<T>& values, double fraction) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(quantile_rank(fraction, values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace reprise::detail

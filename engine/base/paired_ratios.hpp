// Distribution-free statistics of paired measurements: the ratio of two quantities. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

[[nodiscard]] double median_of(std::vector<double> values);  // 0 if empty

// The median ratio and its 95 % confidence interval from order statistics; below 6 pairs, the full
// range.
struct RatioInterval {
  double median = 1, low = 1, high = 1;
};
// Both lists have the same length; the values at one index were measured side by side.
[[nodiscard]] RatioInterval ratio_interval(std::span<const double> numerators,
                                           std::span<const double> denominators);

}  // namespace reprise::detail

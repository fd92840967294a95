// What pairs of measurements say of the ratio of two things, without a word about how measurements
// are spread. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

[[nodiscard]] double median_of(std::vector<double> values);  // 0 for none

// The median of the ratios, and the interval that holds the true one at 95 %, by order statistics;
// of fewer than 6 pairs all of them.
struct RatioInterval {
  double median = 1, low = 1, high = 1;
};
// Two lists of one length; [i] were measured side by side.
[[nodiscard]] RatioInterval ratio_interval(std::span<const double> ours,
                                           std::span<const double> theirs);

}  // namespace reprise::detail

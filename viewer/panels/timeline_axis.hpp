// Ticks of an axis: round values, not more than fit. Threads: pure functions.
#pragma once

#include <vector>

namespace reprise::viewer {

// 1, 2 or 5 times a power of ten, so that [from, to] has at most `most` of them; at least `least_step`.
[[nodiscard]] double round_step(double from, double to, double most, double least_step = 0);
// Multiples of the step in [from, to].
[[nodiscard]] std::vector<double> round_ticks(double from, double to, double step);

}  // namespace reprise::viewer

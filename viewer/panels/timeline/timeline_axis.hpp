// Ticks of an axis: round values, not more than fit. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

namespace reprise::viewer {

// 1, 2 or 5 times a power of ten, so that [from, to] has at most `most` of them; at least
// `least_step`.
[[nodiscard]] double round_step(double from, double to, double most, double least_step = 0);
// A tick of a time axis in ns: all in the unit that suits `largest`, with as many digits as the
// step needs: "0", "0.25 ms", "-1.50 ms".
[[nodiscard]] std::string tick_text(double tick, double step, double largest);
// Multiples of the step in [from, to].
[[nodiscard]] std::vector<double> round_ticks(double from, double to, double step);

}  // namespace reprise::viewer

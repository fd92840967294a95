// Ticks of a numeric axis at round values. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

namespace reprise::viewer {

// The smallest step of the form {1, 2, 5} x 10^n, at least `min_step`, that gives at most
// `max_ticks` ticks in [from, to].
[[nodiscard]] double round_step(double from, double to, double max_ticks, double min_step = 0);
// Text of a tick in ns. The unit suits `largest` for all ticks of an axis, and the number of digits
// suits `step`: "0", "0.25 ms", "-1.50 ms".
[[nodiscard]] std::string tick_text(double tick, double step, double largest);
// The multiples of `step` in [from, to].
[[nodiscard]] std::vector<double> round_ticks(double from, double to, double step);

}  // namespace reprise::viewer

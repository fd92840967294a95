// Ticks of an axis at round values, with texts in one unit. Independent of ImGui. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::viewer {

struct AxisTick {
  double at = 0;
  std::string text;
};

// At most `max_ticks` + 1 ticks in [first, last], ascending.
[[nodiscard]] std::vector<AxisTick> count_ticks(double first, double last,
                                                int max_ticks);  // integers: "1,200"
[[nodiscard]] std::vector<AxisTick> byte_ticks(double first, double last,
                                               int max_ticks);  // power-of-two steps: "1.5 MiB"
[[nodiscard]] std::vector<AxisTick> time_ticks(double first, double last,
                                               int max_ticks);  // ns: "12.5 ms"

// The smallest step of the form {1, 2, 5} x 10^n, at least `min_step`, that gives at most
// `max_ticks` steps in [from, to].
[[nodiscard]] double round_step(double from, double to, double max_ticks, double min_step = 0);
// The multiples of `step` in [from, to].
[[nodiscard]] std::vector<double> round_ticks(double from, double to, double step);
// The top of an axis for these values, at least one: their maximum, or less if few values are far
// above all others.
[[nodiscard]] std::int64_t top_of_scale(std::vector<std::int64_t> values);
// Text of a tick in ns. The unit suits `largest` for all ticks of an axis, and the number of digits
// suits `step`: "0", "0.25 ms", "-1.50 ms".
[[nodiscard]] std::string tick_text(double tick, double step, double largest);

}  // namespace reprise::viewer

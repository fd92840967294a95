// Ticks of an axis: round values with texts in one unit. Independent of ImGui. Threads: pure
// functions.
#pragma once

#include <string>
#include <vector>

namespace reprise::viewer {

struct AxisTick {
  double at = 0;
  std::string text;
};

// At most `max_ticks` ticks between `first` and `last`, ascending.
[[nodiscard]] std::vector<AxisTick> count_ticks(double first, double last,
                                                int max_ticks);  // integers: "1,200"
[[nodiscard]] std::vector<AxisTick> byte_ticks(double first, double last,
                                               int max_ticks);  // power-of-two steps: "1.5 MiB"
[[nodiscard]] std::vector<AxisTick> time_ticks(double first, double last,
                                               int max_ticks);  // ns: "12.5 ms"

}  // namespace reprise::viewer

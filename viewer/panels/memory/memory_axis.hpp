// Ticks of an axis: round values with their texts, all in one unit. Knows no ImGui. Threads: pure
// functions.
#pragma once

#include <string>
#include <vector>

namespace reprise::viewer {

struct AxisTick {
  double at = 0;
  std::string text;
};

// Between `first` and `last`, at most `most` of them, ascending.
[[nodiscard]] std::vector<AxisTick> count_ticks(double first, double last,
                                                int most);  // whole numbers: "1,200"
[[nodiscard]] std::vector<AxisTick> byte_ticks(double first, double last,
                                               int most);  // powers of two apart: "1.5 MiB"
[[nodiscard]] std::vector<AxisTick> time_ticks(double first, double last,
                                               int most);  // ns: "12.5 ms"

}  // namespace reprise::viewer

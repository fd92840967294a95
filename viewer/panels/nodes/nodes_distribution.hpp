// Distribution: how the durations of one node are spread, as bars: small in a row of the table,
// large with its axis in the inspector. Knows no panel. Threads: distribution() is pure; the rest
// is the drawing thread's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "base/log_histogram.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Bars of equal width. What is outside counts in the first and the last one, so that one late
// replay does not squeeze the rest into one bar.
struct Distribution {
  double lowest = 0, highest = 0;  // ns; equal: every value is the same
  double least = 0, greatest = 0;  // ns, of all values
  std::vector<double> bars;        // values in each
  double most = 0;                 // in one bar
  [[nodiscard]] bool has_head() const noexcept { return least < lowest; }
  [[nodiscard]] bool has_tail() const noexcept { return greatest > highest; }
  // Where a duration stands, 0 to 1.
  [[nodiscard]] double place(double nanoseconds) const noexcept;
};

[[nodiscard]] Distribution distribution(const detail::CompactDurationHistogram& times,
                                        std::size_t bars);

// The bars alone, in a rectangle.
void draw_bars(const Distribution& of, ImVec2 min, ImVec2 max, ImU32 colour);

struct DurationMark {
  double nanoseconds = 0;
  std::string name;
};
// With an axis in units, the median and, if there is one, a marked value; as wide as the window.
// Says below the mouse how many there are.
void draw_distribution(const Theme& theme, const Distribution& of, double median,
                       const std::optional<DurationMark>& mark, float height);

}  // namespace reprise::viewer

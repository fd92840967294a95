// Distribution: a histogram of the durations of one node, drawn small in a table row or large with
// an axis. Depends on no panel. Threads: distribution() is pure; drawing functions run on the
// drawing thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "base/duration_histogram.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/shared/theme.hpp"

namespace reprise::viewer {

// Bars of equal width over [lowest, highest]. The first and the last bar also count the values
// outside, so that an outlier does not compress the other bars.
struct Distribution {
  double lowest = 0, highest = 0;  // ns; equal if all values are equal
  double min = 0, max = 0;         // ns, of all values
  std::vector<double> bars;        // number of values per bar
  double max_count = 0;            // maximum of `bars`
  [[nodiscard]] bool has_head() const noexcept { return min < lowest; }
  [[nodiscard]] bool has_tail() const noexcept { return max > highest; }
  // The position of a duration on the axis, 0 to 1.
  [[nodiscard]] double position(double nanoseconds) const noexcept;
};

// The node's durations in the replays of the view model; null if it has none.
[[nodiscard]] const detail::DurationHistogram* times_of(const GraphViewModel& view_model,
                                                        std::uint32_t node);
// At most `max_bars` bars; fewer if the histogram's buckets are wider.
[[nodiscard]] Distribution distribution(const detail::DurationHistogram& times,
                                        std::size_t max_bars);

// Draws only the bars, in a rectangle.
void draw_bars(const Distribution& distribution, ImVec2 min, ImVec2 max, ImU32 colour);

struct DurationMark {
  double nanoseconds = 0;
  std::string name;
};
// Draws the bars with an axis, the median and an optional mark, over the width of the window. A
// tooltip shows range and count of the bar under the mouse.
void draw_distribution(const Theme& theme, const Distribution& distribution, double median,
                       const std::optional<DurationMark>& mark, float height);

}  // namespace reprise::viewer

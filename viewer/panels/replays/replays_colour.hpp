// The colour scale for the ratio of a time to the median: blue is faster, grey equal, orange
// slower. Safe for red-green colour blindness. Threads: drawing thread only.
#pragma once

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

// The ratio (and its inverse) at which the colour is saturated.
inline constexpr double kFullColourRatio = 1.5;

[[nodiscard]] ImU32 mixed(ImU32 a, ImU32 b, float part);
// `ratio`: time divided by the median; 1 or unknown (0): grey.
[[nodiscard]] ImU32 ratio_colour(const Theme& theme, double ratio);
// A bar of the scale with "0.67x" and "1.5x median" at its ends; returns its width.
float draw_ratio_legend(const Theme& theme, ImDrawList& list, ImVec2 at);

}  // namespace reprise::viewer

// How a time compares with the median, as a colour: blue is faster, grey the same, orange slower;
// no red beside green. Threads: the drawing thread's.
#pragma once

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Where the colours are full: half again as fast, half again as slow.
inline constexpr double kFullColourRatio = 1.5;

[[nodiscard]] ImU32 mixed(ImU32 a, ImU32 b, float part);
// `ratio`: of the time to the median; 1 is grey.
[[nodiscard]] ImU32 against_median(const Theme& theme, double ratio);
// A bar of it with "0.67x" and "1.5x median" at its ends; returns its width.
float draw_ratio_legend(const Theme& theme, ImDrawList& list, ImVec2 at);

}  // namespace reprise::viewer

// The left column of a timeline (group titles and row names) and the vertical scrollbar on the
// right. Threads: the drawing thread's.
#pragma once

#include "panels/shared/theme.hpp"
#include "panels/timeline/timeline_layout.hpp"

namespace reprise::viewer {

// `top`: screen y of the top of the layout. Clipped to [min, max].
void draw_timeline_labels(const Theme& theme, const TimelineLayout& layout, float top, ImVec2 min,
                          ImVec2 max);
// A click on the name of a graph shows or hides its nodes, one on the name of a rank its rows.
void handle_timeline_names(const TimelineLayout& layout, float top, ImVec2 min, ImVec2 max,
                           TimelineOpened& opened);
// Draws the scrollbar if the rows do not fit and returns the new scroll offset.
[[nodiscard]] float draw_timeline_scrollbar(const Theme& theme, float scroll, float height,
                                            float visible_height, ImVec2 at);

}  // namespace reprise::viewer

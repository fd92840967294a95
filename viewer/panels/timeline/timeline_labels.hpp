// The column on the left of a timeline: titles of groups, names of rows; and the bar on the right
// that moves rows up and down, where they do not all fit. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_layout.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// `top`: where the layout begins on the screen; nothing is drawn outside of `min` and `max`.
void draw_timeline_labels(const Theme& theme, const TimelineLayout& layout, float top, ImVec2 min,
                          ImVec2 max);
// Returns how far the rows are moved up after this frame. `room`: the height that shows rows.
[[nodiscard]] float draw_timeline_scrollbar(const Theme& theme, float scroll, float height,
                                            float room, ImVec2 at);

}  // namespace reprise::viewer

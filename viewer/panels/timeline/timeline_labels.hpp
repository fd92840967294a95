// The left column of a timeline (titles of sections, row names, values, colour legend) and the
// vertical scrollbar on the right. Threads: the drawing thread's.
#pragma once

#include <optional>

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// The busy part of the visible span of a row; of nodes, of the visible part of the shown replay.
// Empty if the row has none.
[[nodiscard]] std::optional<double> busy_in_view(const TimelineDrawContext& dc,
                                                 const model::Activity& activity,
                                                 const TimelineScene* shown,
                                                 const TimelineRow& row);
// Clipped to [min, max]. `shown` may be null.
void draw_timeline_labels(const TimelineDrawContext& dc, const model::Activity& activity,
                          const TimelineScene* shown, ImVec2 min, ImVec2 max);
// The lines and texts of titles, and the backgrounds of rows of nodes.
void draw_timeline_backgrounds(const TimelineDrawContext& dc);
// Draws the colour legend below the row names, from x position `left`, if there is space: it never
// covers rows. `names_end`: the lower end of the last name.
void draw_timeline_legend(const TimelineDrawContext& dc, float names_end, float left);

// A drag of the lower edge of a row.
struct TimelineResize {
  bool is_active = false;
  std::pair<TimelineRow::Kind, model::GraphKey> rows = {};
  float height = 0, mouse = 0;  // at the start, screen points
  float count = 1;              // of these rows that are above the edge
};
// A click on a name shows or hides rows; a drag of the lower edge of a row resizes all rows of its
// kind and graph, and a double click there resets them.
void handle_timeline_names(const TimelineDrawContext& dc, ImVec2 min, ImVec2 max,
                           TimelineOpened& opened, TimelineResize& resize);
// Draws the scrollbar if the rows do not fit and returns the new scroll offset.
[[nodiscard]] float draw_timeline_scrollbar(const Theme& theme, float scroll, float height,
                                            float visible_height, ImVec2 at);

}  // namespace reprise::viewer

// What the mouse says in a timeline. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

void draw_timeline_tooltip(const TimelineDrawContext& sight);

}  // namespace reprise::viewer

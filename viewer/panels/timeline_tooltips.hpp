// What the mouse says in a timeline. Threads: the drawing thread's.
#pragma once

#include "panels/timeline_sight.hpp"

namespace reprise::viewer {

void draw_timeline_tooltip(const TimelineSight& sight);

}  // namespace reprise::viewer

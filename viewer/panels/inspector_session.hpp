// The part of the inspector about who recorded the trace, and on what. Threads: the drawing thread's.
#pragma once

#include "panels/frame.hpp"

namespace reprise::viewer {

void draw_session(const Frame& frame);

}  // namespace reprise::viewer

// The part of the inspector about who recorded the trace, and on what. Threads: the drawing
// thread's.
#pragma once

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

void draw_session(const PanelContext& context);

}  // namespace reprise::viewer

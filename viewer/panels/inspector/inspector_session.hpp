// The inspector section about the recording process and its devices; in a trace of several ranks,
// those of the shown graph. Threads: drawing thread only.
#pragma once

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

void draw_session(const PanelContext& context);

}  // namespace reprise::viewer

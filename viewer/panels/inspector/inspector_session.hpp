// The inspector section about the recording process and its devices. Threads: drawing thread only.
#pragma once

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

void draw_session(const PanelContext& context);

}  // namespace reprise::viewer

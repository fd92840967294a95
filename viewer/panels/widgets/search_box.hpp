// The search, with how many nodes it finds, and the menu of kinds and labels that it may be kept
// to. Threads: the drawing thread's.
#pragma once

#include <cstddef>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// `width` wide. Changes the view's filter; returns 1 for the next match, -1 for the one before, 0
// for neither.
[[nodiscard]] int draw_search_box(PanelContext& context, std::size_t matches, float width);

}  // namespace reprise::viewer

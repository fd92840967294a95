// The search field with its match count, and the filter menu for node kinds and labels. Threads:
// drawing thread only.
#pragma once

#include <cstddef>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Edits the view's filter. Returns 1 if the user requests the next match, -1 for the previous
// match, 0 otherwise.
[[nodiscard]] int draw_search_box(PanelContext& context, std::size_t matches, float width);

}  // namespace reprise::viewer

// The search field with its match count, and the filter menu for node kinds and labels. Threads:
// drawing thread only.
#pragma once

#include <cstddef>
#include <string>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct SearchResult {
  std::size_t matches = 0;  // number of nodes
  std::string error = {};   // of the query; empty: none
};
// Edits the view's filter. A line below the field explains queries while it has the focus, and the
// error of a query. Returns 1 if the user requests the next match, -1 for the previous match, 0
// otherwise.
[[nodiscard]] int draw_search_box(PanelContext& context, const SearchResult& result, float width);

}  // namespace reprise::viewer

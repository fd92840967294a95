// Context menu and keyboard commands of the node table. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <span>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// The context menu of the preceding item. `rows`: all rows of the table.
void draw_node_menu(PanelContext& context, std::uint32_t node, std::span<const std::uint32_t> rows);
// While the current window has the focus, Ctrl+C copies the selected row and Ctrl+Shift+C copies
// all rows.
void handle_copy_keys(const PanelContext& context, std::span<const std::uint32_t> rows);
// While the current window has the focus, Up and Down move the selection by one row.
void handle_arrow_keys(PanelContext& context, std::span<const std::uint32_t> rows);

}  // namespace reprise::viewer

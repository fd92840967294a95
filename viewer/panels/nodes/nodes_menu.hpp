// What can be done with a row of the table of nodes, in a menu and by keys: show it elsewhere,
// filter by it, copy it, go to the next. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <span>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Opens with the right button on the item before it. `rows`: all that the table shows.
void draw_node_menu(PanelContext& context, std::uint32_t node, std::span<const std::uint32_t> rows);
// Ctrl+C copies the selected row, with Shift all of them, if the current window has the focus.
void copy_by_keys(const PanelContext& context, std::span<const std::uint32_t> rows);

// The arrows select the row above or below the selected one, if the current window has the focus.
void move_by_keys(PanelContext& context, std::span<const std::uint32_t> rows);

}  // namespace reprise::viewer

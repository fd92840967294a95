// Context menu and keyboard commands of the node table. Threads: drawing thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// The context menu of the preceding item, a row of the table.
void draw_node_menu(PanelContext& context, std::uint32_t node, std::size_t row);
// The row of the selected node; empty: it has none.
[[nodiscard]] std::optional<std::size_t> row_of_selection(const PanelContext& context,
                                                          std::span<const std::uint32_t> rows);
// While the current window has the focus, Up and Down move the selection by one row.
void handle_arrow_keys(PanelContext& context, std::span<const std::uint32_t> rows);

}  // namespace reprise::viewer

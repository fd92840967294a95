// One row of the table of nodes: its cells, and what the mouse does to it. Threads: the drawing
// thread's.
#pragma once

#include <cstdint>
#include <span>

#include "panels/nodes/nodes_columns.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct NodeRowDesc {
  std::uint32_t node = 0;
  std::span<const std::uint32_t> rows;  // all that the table shows
  const ColumnScales& scales;
  float height = 0;
  double largest_share = 1;  // that the bars of shares are drawn against
};

// Selects, hovers and opens the node in frame.view. Call with the table's row not begun yet.
void draw_node_row(PanelContext& context, const NodeRowDesc& desc);

}  // namespace reprise::viewer

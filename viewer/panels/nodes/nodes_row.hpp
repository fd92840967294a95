// One row of the node table. Threads: drawing thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "panels/nodes/nodes_columns.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct NodeRowDesc {
  std::uint32_t node = 0;
  std::size_t row = 0;
  const ColumnScales& scales;
  float height = 0;
  double largest_share = 1;  // full length of the share bars
};

// Draws the row, and updates selection, hover and tab in PanelContext::view. Starts the table row.
void draw_node_row(PanelContext& context, const NodeRowDesc& desc);

}  // namespace reprise::viewer

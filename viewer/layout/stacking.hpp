// Stacks the nodes of ranks that are far wider than the view in rows, so that a rank of thousands
// of nodes fills the view instead of a line. Nodes that are next to each other share a stack; the
// edges of a stack lead past its nodes on its left. A pure function; linear in nodes and points,
// times the number of row counts tried.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layered_graph.hpp"
#include "layout/layout.hpp"
#include "layout/rank_order.hpp"

namespace reprise::viewer {

struct StackDesc {
  const LayoutGraph* graph = nullptr;
  const LayeredGraph* layered = nullptr;
  const RankOrder* order = nullptr;
  Size view = {};       // the drawing should fill, folded into columns where it is taller
  float node_gap = 0;   // between stacks
  float group_gap = 0;  // added between stacks per group border
  float row_gap = 0;    // between the rows of a stack
};

// A drawing with downward edges.
struct StackedDrawing {
  std::vector<Point>& centres;
  std::vector<std::vector<Point>>& routes;
  std::vector<double>&rank_start, &rank_end;  // along the edges
  Size& size;
};

// Updates the drawing. Returns the nodes of the tallest stack; 1: the drawing is unchanged, because
// stacks would not show it far larger.
std::uint32_t stack_nodes(const StackDesc& desc, const StackedDrawing& drawing);

}  // namespace reprise::viewer

// GraphArea: the background shape of a label group. A shape consists of the stretches of ranks that
// contain only boxes of the group, so it never covers a box of another group. Stretches in adjacent
// ranks of a column are joined. Depends only on layout. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

// Padding around a group's boxes, added for each nested group.
struct GraphAreaDesc {
  Direction direction = Direction::Down;
  float side = 6;            // left, right and bottom
  float title = 18;          // top, for the title
  std::uint32_t levels = 3;  // nesting levels that receive padding
};

struct GraphLine {
  Point from, to;
};

struct GraphArea {
  // The parts in one column of a folded layout. The title is drawn at `first`. Other components
  // of the graph belong to the last column.
  struct Column {
    Rect first, bounds;  // its first part; of all its parts
  };
  std::uint32_t group = 0, depth = 0;  // depth: number of enclosing groups
  std::vector<Rect> parts;             // disjoint
  std::vector<GraphLine> outline;      // of the union of the parts
  std::vector<Column> columns;         // at least one
  Rect bounds;                         // of the parts; may contain boxes of other groups
};

// One area per group with a box in it or in a nested group, outermost first. `layout` must be the
// layout of `graph`.
[[nodiscard]] std::vector<GraphArea> graph_areas(const LayoutGraph& graph, const Layout& layout,
                                                 const GraphAreaDesc& desc);

}  // namespace reprise::viewer

// GraphAreas: the shapes of label groups behind a drawn graph. A shape is made of stretches of
// ranks in which only the group's own boxes stand, so that it never holds a stranger; stretches of
// neighbouring ranks join. Knows layout alone. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

// Distances around a group's boxes, once more for each group that is around a box inside this one.
struct GraphAreaDesc {
  Direction direction = Direction::Down;
  float side = 6, title = 18;  // left, right and below; above, where the title stands
  std::uint32_t levels = 3;    // more take no more room
};

struct GraphLine {
  Point from, to;
};

struct GraphArea {
  std::uint32_t group = 0, depth = 0;  // depth: groups around it
  std::vector<Rect> parts;             // do not overlap
  std::vector<GraphLine> outline;      // of all parts together
  Rect bounds;                         // of the parts; other boxes may stand in it
};

// A group each that has a box in it or in a group below it, outer ones first. `layout` is of
// `graph`.
[[nodiscard]] std::vector<GraphArea> graph_areas(const LayoutGraph& graph, const Layout& layout,
                                                 const GraphAreaDesc& desc);

}  // namespace reprise::viewer

// The polyline of each edge: from the lower border of its source through its bends to the upper
// border of its destination. Within a rank the line is vertical, so it touches no node. A pure
// function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layered_graph.hpp"
#include "layout/layout.hpp"

namespace reprise::viewer {

struct RouteDesc {
  const LayeredGraph* graph = nullptr;
  const std::vector<double>* across = nullptr;  // per item
  // per rank: its start and end along the edges
  const std::vector<double>* rank_start = nullptr;
  const std::vector<double>* rank_end = nullptr;
  const std::vector<float>* along = nullptr;  // per node: its size along the edges
};

// The points of edge `edge`, for a layout with downward edges; no three consecutive points are
// collinear.
[[nodiscard]] std::vector<Point> route(const RouteDesc& desc, std::uint32_t edge);

}  // namespace reprise::viewer

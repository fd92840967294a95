// The polyline of each edge: from the lower border of a node, through its bends, to the upper
// border of the next. Between the upper and the lower end of a rank it goes straight down, so that
// it meets no node there. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layered_graph.hpp"
#include "layout/layout.hpp"

namespace reprise::viewer {

struct RouteDesc {
  const LayeredGraph* graph = nullptr;
  const std::vector<double>* across = nullptr;  // an item each
  const std::vector<double>* rank_begin =
      nullptr;  // a rank each: where it begins and ends along the edges
  const std::vector<double>* rank_end = nullptr;
  const std::vector<float>* along = nullptr;  // a node each: its size along the edges
};

// Points of edge `edge`, for edges that lead down; no three of them in one line.
[[nodiscard]] std::vector<Point> route(const RouteDesc& desc, std::uint32_t edge);

}  // namespace reprise::viewer

// Rectangles in shelves, from left to right and then down. A pure function.
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

struct PackingDesc {
  float gap = 0;
  float aspect = 1;  // width over height that the whole aims at
};

// The upper left corner of each.
[[nodiscard]] std::vector<Point> pack(const std::vector<Size>& sizes, const PackingDesc& desc);

}  // namespace reprise::viewer

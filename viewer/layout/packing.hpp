// Packs rectangles into shelves, from left to right and top to bottom. A pure function.
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

struct PackingDesc {
  float gap = 0;
  float aspect = 1;  // target width / height of the result
};

// The upper left corner of each rectangle.
[[nodiscard]] std::vector<Point> pack(const std::vector<Size>& sizes, const PackingDesc& desc);

}  // namespace reprise::viewer

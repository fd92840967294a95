#include "layout/packing.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

std::vector<Point> pack(const std::vector<Size>& sizes, const PackingDesc& desc) {
  double area = 0, limit = 0;
  for (const Size size : sizes) {
    area +=
        static_cast<double>(size.width + desc.gap) * static_cast<double>(size.height + desc.gap);
    limit = std::max(limit, static_cast<double>(size.width));
  }
  limit = std::max(limit, std::sqrt(area * static_cast<double>(desc.aspect)));
  std::vector<Point> result;
  result.reserve(sizes.size());
  Point next;
  float shelf = 0;
  for (const Size size : sizes) {
    if (next.x > 0 && static_cast<double>(next.x + size.width) > limit) {
      next = {0, next.y + shelf + desc.gap};
      shelf = 0;
    }
    result.push_back(next);
    next.x += size.width + desc.gap;
    shelf = std::max(shelf, size.height);
  }
  return result;
}

}  // namespace reprise::viewer

// GraphIndex: spatial index of rectangles. Grids of doubling cell size; each rectangle is in the
// first grid whose cells are at least as large. Independent of graphs. Threads: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

[[nodiscard]] inline bool meets(const Rect& a, const Rect& b) noexcept {
  return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

class GraphIndex {
 public:
  GraphIndex() = default;
  explicit GraphIndex(std::vector<Rect> rects);

  // Replaces `found` with the indices of the rectangles that intersect `part`, ascending.
  void find(const Rect& part, std::vector<std::uint32_t>& found) const;
  [[nodiscard]] const Rect& rect(std::uint32_t i) const { return rects_[i]; }

 private:
  struct Level {
    float cell = 1;
    // Cell of the centre (row-major) and index of the rectangle, sorted.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> items;
  };
  std::vector<Rect> rects_;
  Rect bounds_;  // of all rectangles
  std::vector<Level> levels_;
};

}  // namespace reprise::viewer

// GraphIndex: which of many rectangles meet a part of a plane, without looking at all of them:
// grids of doubling cell size, each rectangle once, in the grid whose cells are as large as it is.
// Knows no graph. Threads: immutable, any.
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

  // Numbers of those that meet `part`, ascending; replaces what is in `found`.
  void find(const Rect& part, std::vector<std::uint32_t>& found) const;
  [[nodiscard]] const Rect& rect(std::uint32_t i) const { return rects_[i]; }

 private:
  struct Level {
    float cell = 1;
    std::vector<std::pair<std::uint64_t, std::uint32_t>>
        items;  // cell of the centre, by row then column; number
  };
  std::vector<Rect> rects_;
  Rect bounds_;  // of all
  std::vector<Level> levels_;
};

}  // namespace reprise::viewer

// GraphLod: levels of detail for drawing a graph at low zoom. A level merges boxes in the same cell
// into a block and the links between two cells into a bundle. The cell size doubles from level to
// level. Independent of colours. Threads: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

struct GraphBlock {
  Rect rect;                           // bounds of all its boxes
  std::uint32_t first = 0, count = 0;  // range in the level's boxes
};

struct GraphBundle {
  std::uint32_t link = 0, count = 0;  // the link that is drawn for all of them; their number
};

class GraphLod {
 public:
  static constexpr float kCell = 32;  // cell size of level 0, in plane points
  static constexpr std::uint32_t kLevels = 14;

  struct End {
    Point from, to;
  };
  GraphLod() = default;
  // `boxes`: rectangles; `links`: start and end points.
  GraphLod(std::span<const Rect> boxes, std::span<const End> links);

  // The first level with cells of at least this size, or the last level.
  [[nodiscard]] static std::uint32_t level_for(float cell) noexcept;
  [[nodiscard]] std::span<const GraphBlock> blocks(std::uint32_t level) const noexcept {
    return levels_[level].blocks;
  }
  [[nodiscard]] std::span<const std::uint32_t> boxes_of(std::uint32_t level,
                                                        const GraphBlock& block) const noexcept {
    return std::span(levels_[level].boxes).subspan(block.first, block.count);
  }
  // Ordered by link.
  [[nodiscard]] std::span<const GraphBundle> bundles(std::uint32_t level) const noexcept {
    return levels_[level].bundles;
  }

 private:
  struct Level {
    std::vector<GraphBlock> blocks;
    std::vector<std::uint32_t> boxes;  // grouped by block
    std::vector<GraphBundle> bundles;
  };
  std::vector<Level> levels_;
};

}  // namespace reprise::viewer

// GraphLod: what a graph that is seen from far away is drawn with instead of its single boxes and
// links: blocks of boxes that are nearer to each other than a cell, and one link for all that begin
// and end in the same cells. Cells double from level to level. Knows no colours. Threads:
// immutable, any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/layout.hpp"

namespace reprise::viewer {

struct GraphBlock {
  Rect rect;                           // of all its boxes
  std::uint32_t first = 0, count = 0;  // in the level's boxes
};

class GraphLod {
 public:
  static constexpr float kCell = 32;  // of level 0, in points of the plane
  static constexpr std::uint32_t kLevels = 14;

  struct End {
    Point from, to;
  };
  GraphLod() = default;
  // `boxes`: their rectangles; `links`: where each begins and ends.
  GraphLod(std::span<const Rect> boxes, std::span<const End> links);

  // The first level whose cells are at least as large, the last one at most.
  [[nodiscard]] static std::uint32_t level_for(float cell) noexcept;
  [[nodiscard]] std::span<const GraphBlock> blocks(std::uint32_t level) const noexcept {
    return levels_[level].blocks;
  }
  [[nodiscard]] std::span<const std::uint32_t> boxes_of(std::uint32_t level,
                                                        const GraphBlock& block) const noexcept {
    return std::span(levels_[level].boxes).subspan(block.first, block.count);
  }
  // False: another link stands for this one in that level.
  [[nodiscard]] bool keeps(std::uint32_t link, std::uint32_t level) const noexcept {
    return link_levels_[link] >= level;
  }

 private:
  struct Level {
    std::vector<GraphBlock> blocks;
    std::vector<std::uint32_t> boxes;  // by block
  };
  std::vector<Level> levels_;
  std::vector<std::uint8_t> link_levels_;  // a link each: the last level that keeps it
};

}  // namespace reprise::viewer

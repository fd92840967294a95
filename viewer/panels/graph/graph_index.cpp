#include "panels/graph/graph_index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reprise::viewer {

namespace {

constexpr float kMinCell = 64;
constexpr int kLevels = 24;

// Index of a cell. The origin is far outside the plane, so that indices are not negative.
std::uint64_t cell_index(float at, float cell) {
  return static_cast<std::uint64_t>(
      std::max(0.0, std::floor(static_cast<double>(at) / cell) + 1e6));
}
std::uint64_t key(std::uint64_t row, std::uint64_t column) { return row << 32 | column; }

}  // namespace

GraphIndex::GraphIndex(std::vector<Rect> rects) : rects_(std::move(rects)) {
  std::vector<Level> levels(kLevels);
  for (int l = 0; l < kLevels; ++l)
    levels[static_cast<std::size_t>(l)].cell = std::ldexp(kMinCell, l);
  for (std::uint32_t i = 0; i < rects_.size(); ++i) {
    const Rect& r = rects_[i];
    if (i == 0) bounds_ = r;
    bounds_ = {std::min(bounds_.left, r.left), std::min(bounds_.top, r.top),
               std::max(bounds_.right, r.right), std::max(bounds_.bottom, r.bottom)};
    const float size = std::max(r.width(), r.height());
    std::size_t l = 0;
    while (l + 1 < levels.size() && levels[l].cell < size) ++l;
    const float cell = levels[l].cell;
    levels[l].items.emplace_back(
        key(cell_index((r.top + r.bottom) / 2, cell), cell_index((r.left + r.right) / 2, cell)), i);
  }
  for (Level& level : levels) {
    if (level.items.empty()) continue;
    std::sort(level.items.begin(), level.items.end());
    levels_.push_back(std::move(level));
  }
}

void GraphIndex::find(const Rect& part, std::vector<std::uint32_t>& found) const {
  found.clear();
  if (part.left <= bounds_.left && part.top <= bounds_.top && part.right >= bounds_.right &&
      part.bottom >= bounds_.bottom) {
    found.resize(rects_.size());
    std::iota(found.begin(), found.end(), 0u);
    return;
  }
  for (const Level& level : levels_) {
    const float half = level.cell / 2;
    const std::uint64_t top = cell_index(part.top - half, level.cell),
                        bottom = cell_index(part.bottom + half, level.cell);
    const std::uint64_t left = cell_index(part.left - half, level.cell),
                        right = cell_index(part.right + half, level.cell);
    const auto test = [&](std::uint32_t i) {
      if (meets(rects_[i], part)) found.push_back(i);
    };
    if (bottom - top >= level.items.size()) {
      for (const auto& item : level.items) test(item.second);
      continue;
    }
    for (std::uint64_t row = top; row <= bottom; ++row) {
      auto at = std::lower_bound(level.items.begin(), level.items.end(),
                                 std::pair{key(row, left), std::uint32_t{0}});
      for (; at != level.items.end() && at->first <= key(row, right); ++at) test(at->second);
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace reprise::viewer

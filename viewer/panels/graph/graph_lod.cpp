#include "panels/graph/graph_lod.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace reprise::viewer {

namespace {

// Row-major key of a cell. The origin is far outside the plane, so that indices are not negative.
std::uint64_t key(Point p, float cell) {
  const auto index = [&](float at) {
    return static_cast<std::uint64_t>(std::max(0.0f, std::floor(at / cell) + 64));
  };
  return index(p.y) << 32 | index(p.x);
}

std::uint64_t hash_pair(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 0x632be59bd9b4e019u);
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 29);
}

}  // namespace

GraphLod::GraphLod(std::span<const Rect> boxes, std::span<const End> links) : levels_(kLevels) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed(boxes.size());
  std::vector<GraphBundle> bundles(links.size());
  for (std::uint32_t i = 0; i < bundles.size(); ++i) bundles[i] = {i, 1};
  for (std::uint32_t l = 0; l < kLevels; ++l) {
    const float cell = std::ldexp(kCell, static_cast<int>(l));
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
      keyed[i] = {
          key({(boxes[i].left + boxes[i].right) / 2, (boxes[i].top + boxes[i].bottom) / 2}, cell),
          i};
    std::sort(keyed.begin(), keyed.end());
    Level& level = levels_[l];
    level.boxes.reserve(keyed.size());
    for (std::size_t i = 0; i < keyed.size(); ++i) {
      const Rect& r = boxes[keyed[i].second];
      if (i == 0 || keyed[i].first != keyed[i - 1].first)
        level.blocks.push_back({r, static_cast<std::uint32_t>(i), 0});
      GraphBlock& block = level.blocks.back();
      block.rect = {std::min(block.rect.left, r.left), std::min(block.rect.top, r.top),
                    std::max(block.rect.right, r.right), std::max(block.rect.bottom, r.bottom)};
      ++block.count;
      level.boxes.push_back(keyed[i].second);
    }
    // One bundle per pair of cells. A hash collision drops a link, which is invisible at this zoom.
    std::unordered_map<std::uint64_t, std::uint32_t> known;  // index in level.bundles
    known.reserve(bundles.size());
    for (const GraphBundle& bundle : bundles) {
      const End& end = links[bundle.link];
      const auto [at, is_new] = known.try_emplace(hash_pair(key(end.from, cell), key(end.to, cell)),
                                                  static_cast<std::uint32_t>(level.bundles.size()));
      if (is_new) {
        level.bundles.push_back(bundle);
      } else {
        level.bundles[at->second].count += bundle.count;
      }
    }
    bundles = level.bundles;
  }
}

std::uint32_t GraphLod::level_for(float cell) noexcept {
  std::uint32_t level = 0;
  for (float at = kCell; at < cell && level + 1 < kLevels; at *= 2) ++level;
  return level;
}

}  // namespace reprise::viewer

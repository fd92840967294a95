#include "planner/skyline.hpp"

#include <algorithm>
#include <bit>

namespace reprise::detail {

Skyline::Skyline(std::uint32_t cliques)
    : leaves_(std::bit_ceil(std::max(cliques, 1u))),
      floor_(std::size_t{2} * leaves_, 0),
      max_(std::size_t{2} * leaves_, 0) {}

std::uint64_t Skyline::max_height(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                                  IndexRange range) const {
  if (range.begin >= end || range.end <= begin) return 0;
  if (range.begin <= begin && end <= range.end) return max_[node];
  const std::uint32_t middle = begin + (end - begin) / 2;
  return std::max({floor_[node], max_height(2 * node, begin, middle, range),
                   max_height(2 * node + 1, middle, end, range)});
}

// Heights never decrease, so a floor remains valid for its subtree.
void Skyline::raise(std::uint32_t node, std::uint32_t begin, std::uint32_t end, IndexRange range,
                    std::uint64_t height) {
  if (range.begin >= end || range.end <= begin) return;
  max_[node] = std::max(max_[node], height);
  if (range.begin <= begin && end <= range.end) {
    floor_[node] = std::max(floor_[node], height);
    return;
  }
  const std::uint32_t middle = begin + (end - begin) / 2;
  raise(2 * node, begin, middle, range, height);
  raise(2 * node + 1, middle, end, range, height);
}

}  // namespace reprise::detail

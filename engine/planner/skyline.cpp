#include "planner/skyline.hpp"

#include <algorithm>
#include <bit>

namespace reprise::detail {

Skyline::Skyline(std::uint32_t sections)
    : leaves_(std::bit_ceil(std::max(sections, 1u))),
      all_(std::size_t{2} * leaves_, 0),
      most_(std::size_t{2} * leaves_, 0) {}

std::uint64_t Skyline::highest(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                               IndexRange range) const {
  if (range.begin >= end || range.end <= begin) return 0;
  if (range.begin <= begin && end <= range.end) return most_[node];
  const std::uint32_t middle = begin + (end - begin) / 2;
  return std::max({all_[node], highest(2 * node, begin, middle, range),
                   highest(2 * node + 1, middle, end, range)});
}

// Heights only rise within a range, so what all sections have is never taken back.
void Skyline::set(std::uint32_t node, std::uint32_t begin, std::uint32_t end, IndexRange range,
                  std::uint64_t height) {
  if (range.begin >= end || range.end <= begin) return;
  most_[node] = std::max(most_[node], height);
  if (range.begin <= begin && end <= range.end) {
    all_[node] = std::max(all_[node], height);
    return;
  }
  const std::uint32_t middle = begin + (end - begin) / 2;
  set(2 * node, begin, middle, range, height);
  set(2 * node + 1, middle, end, range, height);
}

}  // namespace reprise::detail

// Merges adjacent narrow items of a timeline row into blocks. Every item is in exactly one block.
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace reprise::viewer {

struct TimelineExtent {
  double started = 0, ended = 0;  // plane coordinates
};

struct TimelineBlock {
  std::size_t first = 0, end = 0;  // half-open range of items
  double started = 0, ended = 0;
  [[nodiscard]] std::size_t count() const noexcept { return end - first; }
};

inline constexpr double kNarrow = 4;  // screen points; wider items are never merged

// Blocks of the items [first, last), which are sorted by start and disjoint. `extent_of(i)`: extent
// of an item; `unit`: plane units per screen point. Narrow items less than kNarrow points apart are
// merged. O(blocks x log(items)).
template <class ExtentOf>
[[nodiscard]] std::vector<TimelineBlock> merged_blocks(std::size_t first, std::size_t last,
                                                       double unit, ExtentOf extent_of) {
  std::vector<TimelineBlock> blocks;
  const double narrow = kNarrow * unit;
  const auto is_narrow = [&](const TimelineExtent& e) { return e.ended - e.started < narrow; };
  for (std::size_t i = first; i < last;) {
    const TimelineExtent one = extent_of(i);
    TimelineBlock block{i, i + 1, one.started, one.ended};
    while (is_narrow(one) && block.end < last) {
      // At most one item that starts before `reach` is wide: the last one.
      const double reach = block.ended + narrow;
      std::size_t step = 1, low = block.end, high = block.end;
      while (high < last && extent_of(high).started < reach) {
        low = high + 1;
        high = std::min(last, high + step);
        step *= 2;
      }
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (extent_of(middle).started < reach) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low == block.end) break;
      const bool is_last_wide = !is_narrow(extent_of(low - 1));
      const std::size_t end = is_last_wide ? low - 1 : low;
      if (end > block.end) {
        block.end = end;
        block.ended = std::max(block.ended, extent_of(end - 1).ended);
      }
      if (is_last_wide) break;
    }
    blocks.push_back(block);
    i = block.end;
  }
  return blocks;
}

}  // namespace reprise::viewer

#include "planner/keep_offsets.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "planner/greedy_pack.hpp"

namespace reprise::detail {

namespace {

// Items that stay, in order of time; gives those that cannot.
std::vector<std::uint32_t> drop_clashes(const LifetimeCliques& sections,
                                        std::span<const PackItem> items,
                                        std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint32_t> order = sections.by_begin;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t begin_a = sections.ranges[a].begin, begin_b = sections.ranges[b].begin;
    return begin_a != begin_b ? begin_a < begin_b : items[a].bytes > items[b].bytes;
  });
  std::vector<std::uint32_t> dropped;
  std::map<std::uint64_t, std::uint64_t> live;             // offset, end
  using Ending = std::pair<std::uint32_t, std::uint64_t>;  // section, offset
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends;
  for (const std::uint32_t item : order) {
    while (!ends.empty() && ends.top().first <= sections.ranges[item].begin) {
      live.erase(ends.top().second);
      ends.pop();
    }
    const std::uint64_t offset = offsets[item], end = offset + items[item].bytes;
    const auto next = live.lower_bound(offset);
    const bool is_free = offset != kUnplaced && offset % items[item].alignment == 0 &&
                         (next == live.end() || next->first >= end) &&
                         (next == live.begin() || std::prev(next)->second <= offset);
    if (!is_free) {
      offsets[item] = kUnplaced;
      dropped.push_back(item);
      continue;
    }
    live.emplace(offset, end);
    ends.push({sections.ranges[item].end, offset});
  }
  return dropped;
}

// The tightest gap between what is placed and lives at the same time, or the top of it.
std::uint64_t gap_for(std::uint32_t item, const LifetimeCliques& sections,
                      std::span<const PackItem> items, const std::vector<std::uint64_t>& offsets) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> around;  // offset, end
  const IndexRange range = sections.ranges[item];
  for (std::uint32_t other = 0; other < items.size(); ++other) {
    if (offsets[other] == kUnplaced || sections.ranges[other].begin >= range.end ||
        range.begin >= sections.ranges[other].end)
      continue;
    around.emplace_back(offsets[other], offsets[other] + items[other].bytes);
  }
  std::sort(around.begin(), around.end());
  std::uint64_t at = 0, best = kUnplaced, least = kUnplaced;
  for (const auto& [begin, end] : around) {
    if (begin >= at && begin - at >= items[item].bytes && begin - at < least) {
      best = at;
      least = begin - at;
    }
    at = std::max(at, aligned_up(end, items[item].alignment));
  }
  return best == kUnplaced ? at : best;
}

}  // namespace

Packing keep_offsets(const LifetimeCliques& sections, std::span<const PackItem> items,
                     std::span<const std::uint64_t> earlier) {
  Packing packing;
  packing.offsets.assign(earlier.begin(), earlier.end());
  std::vector<std::uint32_t> moved = drop_clashes(sections, items, packing.offsets);
  std::stable_sort(moved.begin(), moved.end(), [&](std::uint32_t a, std::uint32_t b) {
    return items[a].bytes > items[b].bytes;
  });
  for (const std::uint32_t item : moved)
    packing.offsets[item] = gap_for(item, sections, items, packing.offsets);
  for (std::uint32_t item = 0; item < items.size(); ++item)
    packing.height = std::max(packing.height, packing.offsets[item] + items[item].bytes);
  return packing;
}

}  // namespace reprise::detail

#include "planner/keep_offsets.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "base/aligned_up.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;  // as the limit of all sizes

// Sweeps over the items in order of time. Sets the offsets of items that cannot keep them to
// kUnplaced and returns these items.
std::vector<std::uint32_t> drop_conflicting(const LifetimeCliques& cliques,
                                            std::span<const PackItem> items,
                                            std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint32_t> order = cliques.by_start;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t start_a = cliques.ranges[a].begin, start_b = cliques.ranges[b].begin;
    return start_a != start_b ? start_a < start_b : items[a].bytes > items[b].bytes;
  });
  std::vector<std::uint32_t> dropped;
  std::map<std::uint64_t, std::uint64_t> live;             // end by offset
  using Expiry = std::pair<std::uint32_t, std::uint64_t>;  // clique, offset
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries;
  for (const std::uint32_t item : order) {
    while (!expiries.empty() && expiries.top().first <= cliques.ranges[item].begin) {
      live.erase(expiries.top().second);
      expiries.pop();
    }
    const std::uint64_t offset = offsets[item], end = offset + items[item].bytes;
    const auto next = live.lower_bound(offset);
    const bool is_free = offset <= kMaxOffset && offset % items[item].alignment == 0 &&
                         (next == live.end() || next->first >= end) &&
                         (next == live.begin() || std::prev(next)->second <= offset);
    if (!is_free) {
      offsets[item] = kUnplaced;
      dropped.push_back(item);
      continue;
    }
    live.emplace(offset, end);
    expiries.push({cliques.ranges[item].end, offset});
  }
  return dropped;
}

// The offset of the smallest gap between the placed items that are alive together with `item`, or
// the offset above them.
std::uint64_t best_fit_offset(std::uint32_t item, const LifetimeCliques& cliques,
                              std::span<const PackItem> items,
                              const std::vector<std::uint64_t>& offsets) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> neighbours;  // offset, end
  const IndexRange range = cliques.ranges[item];
  for (std::uint32_t other = 0; other < items.size(); ++other) {
    if (offsets[other] == kUnplaced || cliques.ranges[other].begin >= range.end ||
        range.begin >= cliques.ranges[other].end)
      continue;
    neighbours.emplace_back(offsets[other], offsets[other] + items[other].bytes);
  }
  std::sort(neighbours.begin(), neighbours.end());
  std::uint64_t top = 0, best = kUnplaced, min_gap = kUnplaced;
  for (const auto& [begin, end] : neighbours) {
    if (begin >= top && begin - top >= items[item].bytes && begin - top < min_gap) {
      best = top;
      min_gap = begin - top;
    }
    top = std::max(top, aligned_up(end, items[item].alignment));
  }
  return best == kUnplaced ? top : best;
}

}  // namespace

Packing keep_offsets(const LifetimeCliques& cliques, std::span<const PackItem> items,
                     std::span<const std::uint64_t> earlier) {
  Packing packing;
  packing.offsets.assign(earlier.begin(), earlier.end());
  std::vector<std::uint32_t> moved = drop_conflicting(cliques, items, packing.offsets);
  std::stable_sort(moved.begin(), moved.end(), [&](std::uint32_t a, std::uint32_t b) {
    return items[a].bytes > items[b].bytes;
  });
  for (const std::uint32_t item : moved)
    packing.offsets[item] = best_fit_offset(item, cliques, items, packing.offsets);
  for (std::uint32_t item = 0; item < items.size(); ++item)
    packing.peak_bytes = std::max(packing.peak_bytes, packing.offsets[item] + items[item].bytes);
  return packing;
}

}  // namespace reprise::detail

#include "planner/interval_fit.hpp"

#include <algorithm>
#include <functional>
#include <memory_resource>
#include <numeric>
#include <queue>
#include <set>

#include "base/aligned_up.hpp"
#include "planner/skyline.hpp"

namespace reprise::detail {

namespace {

using Order = std::vector<std::uint32_t>;

// Places each item above all earlier items of its cliques.
Packing skyline_pack(const LifetimeCliques& cliques, std::span<const PackItem> items,
                     const Order& order) {
  Packing packing;
  packing.offsets.assign(items.size(), 0);
  Skyline skyline(cliques.count);
  for (const std::uint32_t item : order) {
    const IndexRange range = cliques.ranges[item];
    const std::uint64_t offset = aligned_up(skyline.max_height(range), items[item].alignment);
    packing.offsets[item] = offset;
    skyline.raise(range, offset + items[item].bytes);
    packing.peak_bytes = std::max(packing.peak_bytes, offset + items[item].bytes);
  }
  return packing;
}

// Free ranges below the top, ordered by size and by offset.
class FreeList {
 public:
  // The initial range is [0, bytes).
  explicit FreeList(std::uint64_t bytes) : top_(bytes), initial_end_(bytes) { add(0, bytes); }

  struct FreeRange {
    std::uint64_t bytes = 0, offset = 0;
    friend auto operator<=>(const FreeRange&, const FreeRange&) = default;
  };

  // Best fit. An item in a range that ends at the initial end is placed at the end of that range.
  std::uint64_t allocate(const PackItem& item) {
    for (auto at = by_bytes_.lower_bound({item.bytes, 0}); at != by_bytes_.end(); ++at) {
      const FreeRange range = *at;
      const std::uint64_t end = range.offset + range.bytes,
                          lowest = aligned_up(range.offset, item.alignment);
      if (lowest + item.bytes > end) continue;
      const bool is_at_initial_end = end == initial_end_ && range.offset != 0;
      const std::uint64_t offset =
          is_at_initial_end ? (end - item.bytes) / item.alignment * item.alignment : lowest;
      remove(range);
      add(range.offset, offset - range.offset);
      add(offset + item.bytes, range.offset + range.bytes - offset - item.bytes);
      return offset;
    }
    // No range is large enough: extend the top, and use a free range directly below it.
    std::uint64_t begin = top_;
    if (!by_offset_.empty()) {
      const FreeRange last = {std::prev(by_offset_.end())->second,
                              std::prev(by_offset_.end())->first};
      if (last.offset + last.bytes == top_) {
        begin = last.offset;
        remove(last);
      }
    }
    const std::uint64_t offset = aligned_up(begin, item.alignment);
    add(begin, offset - begin);
    top_ = offset + item.bytes;
    return offset;
  }

  // Merges the range with adjacent free ranges.
  void free(std::uint64_t offset, std::uint64_t bytes) {
    auto next = by_offset_.lower_bound({offset, 0});
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const FreeRange after = {next->second, next->first};
      bytes += after.bytes;
      remove(after);
      next = by_offset_.lower_bound({offset, 0});
    }
    if (next != by_offset_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        const FreeRange joined = {before->second, before->first};
        offset = joined.offset;
        bytes += joined.bytes;
        remove(joined);
      }
    }
    add(offset, bytes);
  }
  [[nodiscard]] std::uint64_t top() const noexcept { return top_; }

 private:
  void add(std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0) return;
    by_bytes_.insert({bytes, offset});
    by_offset_.insert({offset, bytes});
  }
  void remove(const FreeRange& range) {
    by_bytes_.erase(range);
    by_offset_.erase({range.offset, range.bytes});
  }
  std::pmr::unsynchronized_pool_resource nodes_;  // of both sets, which insert and erase often
  std::pmr::set<FreeRange> by_bytes_{&nodes_};
  std::pmr::set<std::pair<std::uint64_t, std::uint64_t>> by_offset_{&nodes_};  // offset, bytes
  std::uint64_t top_;          // nothing above was ever allocated
  std::uint64_t initial_end_;  // end of the initial range
};

// Best fit in order of start times. Items in the range that ends at `capacity` are placed at its
// end, so the buffers of a chain, each of which overlaps the next, alternate between bottom and
// top.
Packing best_fit_sweep(const LifetimeCliques& cliques, std::span<const PackItem> items,
                       std::uint64_t capacity) {
  Packing packing;
  packing.offsets.assign(items.size(), 0);
  Order order = cliques.by_start;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t start_a = cliques.ranges[a].begin, start_b = cliques.ranges[b].begin;
    return start_a != start_b ? start_a < start_b : items[a].bytes > items[b].bytes;
  });
  FreeList memory(capacity);
  using Expiry = std::pair<std::uint32_t, std::uint32_t>;  // clique, item
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> live;
  for (const std::uint32_t item : order) {
    while (!live.empty() && live.top().first <= cliques.ranges[item].begin) {
      memory.free(packing.offsets[live.top().second], items[live.top().second].bytes);
      live.pop();
    }
    packing.offsets[item] = memory.allocate(items[item]);
    live.push({cliques.ranges[item].end, item});
  }
  packing.peak_bytes = memory.top();
  return packing;
}

}  // namespace

Packing fit_intervals(const LifetimeCliques& cliques, std::span<const PackItem> items,
                      std::uint64_t target) {
  const auto lifetime = [&](std::uint32_t i) {
    return cliques.ranges[i].end - cliques.ranges[i].begin;
  };
  const auto ordered = [&](const auto& before) {
    Order order = cliques.by_start;
    std::stable_sort(order.begin(), order.end(), before);
    return order;
  };
  Packing best = skyline_pack(cliques, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                                return lifetime(a) > lifetime(b);
                              }));
  const auto keep_lower = [&](Packing packing) {
    if (packing.peak_bytes < best.peak_bytes) best = std::move(packing);
  };
  if (best.peak_bytes > target) keep_lower(best_fit_sweep(cliques, items, target));
  if (best.peak_bytes > target) {
    keep_lower(skyline_pack(cliques, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                              return items[a].bytes > items[b].bytes;
                            })));
  }
  if (best.peak_bytes > target) {
    const auto area = [&](std::uint32_t i) {
      return static_cast<double>(lifetime(i)) * static_cast<double>(items[i].bytes);
    };
    keep_lower(skyline_pack(cliques, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                              return area(a) > area(b);
                            })));
  }
  if (best.peak_bytes > target) {
    keep_lower(skyline_pack(cliques, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                              return cliques.ranges[a].end > cliques.ranges[b].end;
                            })));
  }
  return best;
}

}  // namespace reprise::detail

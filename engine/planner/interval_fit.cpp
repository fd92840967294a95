#include "planner/interval_fit.hpp"

#include <algorithm>
#include <functional>
#include <memory_resource>
#include <numeric>
#include <queue>
#include <set>

#include "planner/skyline.hpp"

namespace reprise::detail {

namespace {

using Order = std::vector<std::uint32_t>;

Packing stack_up(const LifetimeCliques& sections, std::span<const PackItem> items,
                 const Order& order) {
  Packing packing;
  packing.offsets.assign(items.size(), 0);
  Skyline skyline(sections.sections);
  for (const std::uint32_t item : order) {
    const IndexRange range = sections.ranges[item];
    const std::uint64_t offset = aligned_up(skyline.highest(range), items[item].alignment);
    packing.offsets[item] = offset;
    skyline.set(range, offset + items[item].bytes);
    packing.height = std::max(packing.height, offset + items[item].bytes);
  }
  return packing;
}

// Free stretches below the top, by bytes and by offset.
class FreeList {
 public:
  // So many bytes are free to begin with.
  explicit FreeList(std::uint64_t bytes) : top_(bytes), ends_at_(bytes) { add(0, bytes); }

  struct Stretch {
    std::uint64_t bytes = 0, offset = 0;
    friend auto operator<=>(const Stretch&, const Stretch&) = default;
  };

  std::uint64_t take(const PackItem& item) {
    for (auto at = by_bytes_.lower_bound({item.bytes, 0}); at != by_bytes_.end(); ++at) {
      const Stretch found = *at;
      const std::uint64_t end = found.offset + found.bytes,
                          lowest = aligned_up(found.offset, item.alignment);
      if (lowest + item.bytes > end) continue;
      const bool is_at_end = end == ends_at_ && found.offset != 0;
      const std::uint64_t offset =
          is_at_end ? (end - item.bytes) / item.alignment * item.alignment : lowest;
      remove(found);
      add(found.offset, offset - found.offset);
      add(offset + item.bytes, found.offset + found.bytes - offset - item.bytes);
      return offset;
    }
    // At the top; what is free just below it is used as well.
    std::uint64_t begin = top_;
    if (!by_offset_.empty()) {
      const Stretch last = {std::prev(by_offset_.end())->second,
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

  void give(std::uint64_t offset, std::uint64_t bytes) {
    auto next = by_offset_.lower_bound({offset, 0});
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const Stretch after = {next->second, next->first};
      bytes += after.bytes;
      remove(after);
      next = by_offset_.lower_bound({offset, 0});
    }
    if (next != by_offset_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        const Stretch joined = {before->second, before->first};
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
  void remove(const Stretch& stretch) {
    by_bytes_.erase(stretch);
    by_offset_.erase({stretch.offset, stretch.bytes});
  }
  std::pmr::unsynchronized_pool_resource nodes_;  // of both sets, which add and remove all the time
  std::pmr::set<Stretch> by_bytes_{&nodes_};
  std::pmr::set<std::pair<std::uint64_t, std::uint64_t>> by_offset_{&nodes_};  // offset, bytes
  std::uint64_t top_;      // nothing above was ever taken
  std::uint64_t ends_at_;  // what was free to begin with
};

// In the order that they begin, each where it fits best among those that live then, at the lower
// end of what is free or at the upper end of `height`: buffers of a chain, each of which lives with
// the next, lie at both in turns.
Packing sweep(const LifetimeCliques& sections, std::span<const PackItem> items,
              std::uint64_t height) {
  Packing packing;
  packing.offsets.assign(items.size(), 0);
  Order order = sections.by_begin;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t begin_a = sections.ranges[a].begin, begin_b = sections.ranges[b].begin;
    return begin_a != begin_b ? begin_a < begin_b : items[a].bytes > items[b].bytes;
  });
  FreeList memory(height);
  using Ending = std::pair<std::uint32_t, std::uint32_t>;  // section, item
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> live;
  for (const std::uint32_t item : order) {
    while (!live.empty() && live.top().first <= sections.ranges[item].begin) {
      memory.give(packing.offsets[live.top().second], items[live.top().second].bytes);
      live.pop();
    }
    packing.offsets[item] = memory.take(items[item]);
    live.push({sections.ranges[item].end, item});
  }
  packing.height = memory.top();
  return packing;
}

}  // namespace

Packing fit_intervals(const LifetimeCliques& sections, std::span<const PackItem> items,
                      std::uint64_t target) {
  const auto width = [&](std::uint32_t i) {
    return sections.ranges[i].end - sections.ranges[i].begin;
  };
  const auto ordered = [&](const auto& before) {
    Order order = sections.by_begin;
    std::stable_sort(order.begin(), order.end(), before);
    return order;
  };
  Packing best =
      stack_up(sections, items,
               ordered([&](std::uint32_t a, std::uint32_t b) { return width(a) > width(b); }));
  const auto keep_lower = [&](Packing packing) {
    if (packing.height < best.height) best = std::move(packing);
  };
  if (best.height > target) keep_lower(sweep(sections, items, target));
  if (best.height > target) {
    keep_lower(stack_up(sections, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                          return items[a].bytes > items[b].bytes;
                        })));
  }
  if (best.height > target) {
    const auto area = [&](std::uint32_t i) {
      return static_cast<double>(width(i)) * static_cast<double>(items[i].bytes);
    };
    keep_lower(stack_up(sections, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                          return area(a) > area(b);
                        })));
  }
  if (best.height > target) {
    keep_lower(stack_up(sections, items, ordered([&](std::uint32_t a, std::uint32_t b) {
                          return sections.ranges[a].end > sections.ranges[b].end;
                        })));
  }
  return best;
}

}  // namespace reprise::detail

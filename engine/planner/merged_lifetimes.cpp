#include "planner/merged_lifetimes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/aligned_up.hpp"
#include "planner/packing.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
// Limits for combinations in a group of equal lifetimes: pairs in groups of up to kMaxPaired
// blocks, and up to four blocks in groups of up to kMaxCombined.
constexpr std::size_t kMaxPaired = 64, kMaxCombined = 8;
// Pinwheels are searched only at times at which at most this many blocks start or end.
constexpr std::size_t kMaxAround = 16;
// Blocks inspected in all iterations together: hundreds of iterations for a list of some hundred
// buffers, ten for tens of thousands.
constexpr std::size_t kMaxInspected = 300'000;
// Up to this many blocks inspected, stacks are merged one by one, because each merge can determine
// others. Beyond it, all stacks are merged at once.
constexpr std::size_t kMaxGuessed = 30'000;
// No stack is guessed if fewer than one in this many buffers were merged because of matching sizes.
constexpr std::size_t kMinFittedPart = 20;

// The first combination of 2 to `max_count` elements of `all` that satisfies the predicate; empty
// if none does.
template <class Predicate>
std::vector<std::uint32_t> find_combination(const std::vector<std::uint32_t>& all,
                                            std::size_t max_count, const Predicate& predicate) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t count = 2; count <= std::min(max_count, all.size()); ++count) {
    std::vector<std::size_t> at(count);
    std::iota(at.begin(), at.end(), std::size_t{0});
    for (;;) {
      chosen.clear();
      for (const std::size_t i : at) chosen.push_back(all[i]);
      if (predicate(chosen)) return chosen;
      std::size_t last = count;
      while (last > 0 && at[last - 1] == all.size() - count + last - 1) --last;
      if (last == 0) break;
      ++at[last - 1];
      for (std::size_t i = last; i < count; ++i) at[i] = at[i - 1] + 1;
    }
  }
  return {};
}

template <class Value>
bool occurs_once(const std::vector<Value>& sorted, const Value& value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  return last - first == 1;
}

}  // namespace

MergedLifetimes::MergedLifetimes(std::span<const BufferLifetime> buffers)
    : blocks_(buffers.begin(), buffers.end()), locations_(buffers.size()) {
  for (std::uint32_t i = 0; i < locations_.size(); ++i) locations_[i].block = i;
  std::size_t inspected = 0;
  do {
    inspected += blocks_.size();
  } while (inspected <= kMaxInspected && (merge_chains() || merge_matching_stacks() ||
                                          merge_pinwheels() || merge_smallest_stack()));
}

std::vector<std::uint64_t> MergedLifetimes::offsets_of_buffers(
    std::span<const std::uint64_t> offsets_of_blocks) const {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(locations_.size());
  for (const Location& location : locations_)
    offsets.push_back(offsets_of_blocks[location.block] + location.offset);
  return offsets;
}

// Links blocks of one size and alignment at times at which exactly one of them ends and exactly one
// starts.
bool MergedLifetimes::merge_chains() {
  struct Edge {
    EdgeKey key;
    bool is_start = false;
    std::uint32_t block = 0;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * blocks_.size());
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    edges.push_back({{blocks_[i].lower, blocks_[i].size, blocks_[i].alignment}, true, i});
    edges.push_back({{blocks_[i].upper, blocks_[i].size, blocks_[i].alignment}, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.key, a.is_start, a.block) < std::tie(b.key, b.is_start, b.block);
  });
  std::vector<std::uint32_t> next(blocks_.size(), kNoBlock);
  std::vector<std::uint8_t> follows(blocks_.size(), 0);
  for (std::size_t first = 0, last = 0; first < edges.size(); first = last) {
    for (last = first + 1; last < edges.size() && edges[last].key == edges[first].key;) ++last;
    if (last - first != 2 || edges[first].is_start || !edges[first + 1].is_start) continue;
    next[edges[first].block] = edges[first + 1].block;
    follows[edges[first + 1].block] = 1;
  }
  std::vector<Merge> chains;
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (follows[i] != 0 || next[i] == kNoBlock) continue;
    Merge chain{blocks_[i]};
    for (std::uint32_t link = i; link != kNoBlock; link = next[link]) {
      chain.parts.push_back({link, 0});
      chain.block.upper = blocks_[link].upper;
    }
    chains.push_back(std::move(chain));
  }
  return apply(chains, Reason::Sizes);
}

// Groups of two or more blocks with the same lifetime and alignment, each in ascending order.
std::vector<MergedLifetimes::Stack> MergedLifetimes::groups() const {
  Stack order(blocks_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) {
    return std::tuple(blocks_[i].lower, blocks_[i].upper, blocks_[i].alignment);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(key(a), a) < std::pair(key(b), b);
  });
  std::vector<Stack> groups;
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && key(order[last]) == key(order[first]);) ++last;
    if (last - first > 1)
      groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first),
                          order.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return groups;
}

std::uint64_t MergedLifetimes::stacked_bytes(std::span<const std::uint32_t> stack) const {
  std::uint64_t bytes = 0;
  for (const std::uint32_t block : stack)
    bytes = aligned_up(bytes, blocks_[block].alignment) + blocks_[block].size;
  return bytes;
}

// Merges stacks whose total size equals that of exactly one block that ends at their start or
// starts at their end.
bool MergedLifetimes::merge_matching_stacks() {
  const std::vector<Stack> all = groups();
  if (all.empty()) return false;
  std::vector<EdgeKey> ends, starts;
  for (const BufferLifetime& block : blocks_) {
    ends.emplace_back(block.upper, block.size, block.alignment);
    starts.emplace_back(block.lower, block.size, block.alignment);
  }
  std::sort(ends.begin(), ends.end());
  std::sort(starts.begin(), starts.end());
  std::vector<Merge> stacks;
  for (const Stack& group : all) {
    const BufferLifetime& one = blocks_[group.front()];
    const auto fits = [&](const Stack& stack) {
      const std::uint64_t bytes = stacked_bytes(stack);
      return occurs_once(ends, {one.lower, bytes, one.alignment}) ||
             occurs_once(starts, {one.upper, bytes, one.alignment});
    };
    const std::size_t max_count = group.size() > kMaxPaired     ? 0
                                  : group.size() > kMaxCombined ? 2
                                                                : 4;
    const Stack found = fits(group) ? group : find_combination(group, max_count, fits);
    if (!found.empty()) stacks.push_back(stacked(found));
  }
  return apply(stacks, Reason::Sizes);
}

// Merges pinwheels: five blocks that fill a rectangle although none of them spans it. Four blocks
// surround the middle one; two of them start at the start of the rectangle and two end at its end.
bool MergedLifetimes::merge_pinwheels() {
  using At = std::pair<std::int64_t, std::uint32_t>;  // time, and a block that starts or ends
  std::vector<At> ends, starts;
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    ends.emplace_back(blocks_[i].upper, i);
    starts.emplace_back(blocks_[i].lower, i);
  }
  std::sort(ends.begin(), ends.end());
  std::sort(starts.begin(), starts.end());
  std::vector<std::uint8_t> is_taken(blocks_.size(), 0);
  // The blocks that start or end at `time`; empty if there are more than kMaxAround.
  const auto at = [](const std::vector<At>& all, std::int64_t time) {
    const auto first = std::lower_bound(all.begin(), all.end(), At{time, 0}),
               last = std::upper_bound(first, all.end(), At{time, kNoBlock});
    return last - first > static_cast<std::ptrdiff_t>(kMaxAround)
               ? std::span<const At>()
               : std::span<const At>(first, last);
  };
  std::vector<Merge> pinwheels;
  const auto merge_around = [&](std::uint32_t middle) {
    const BufferLifetime& m = blocks_[middle];
    const auto is_free = [&](std::uint32_t i) {
      return is_taken[i] == 0 && i != middle && blocks_[i].alignment == m.alignment;
    };
    for (const auto& [x2, a] : at(ends, m.upper)) {
      if (!is_free(a) || blocks_[a].lower >= m.lower || blocks_[a].size % m.alignment != 0 ||
          (blocks_[a].size + m.size) % m.alignment != 0)
        continue;
      for (const auto& [x1, d] : at(ends, m.lower)) {
        if (!is_free(d) || blocks_[d].lower != blocks_[a].lower || blocks_[d].size <= m.size)
          continue;
        for (const auto& [from, c] : at(starts, m.lower)) {
          if (!is_free(c) || blocks_[c].upper <= m.upper ||
              blocks_[c].size != blocks_[d].size - m.size)
            continue;
          for (const auto& [after, b] : at(starts, m.upper)) {
            if (!is_free(b) || blocks_[b].upper != blocks_[c].upper ||
                blocks_[b].size != blocks_[a].size + m.size)
              continue;
            const std::uint64_t below = blocks_[a].size;
            pinwheels.push_back(
                {{blocks_[a].lower, blocks_[b].upper, below + blocks_[d].size, m.alignment},
                 {{a, 0}, {b, 0}, {d, below}, {middle, below}, {c, below + m.size}}});
            for (const Location& part : pinwheels.back().parts) is_taken[part.block] = 1;
            return;
          }
        }
      }
    }
  };
  for (std::uint32_t middle = 0; middle < blocks_.size(); ++middle) {
    if (is_taken[middle] == 0) merge_around(middle);
  }
  return apply(pinwheels, Reason::Sizes);
}

// Merges the stack with the fewest blocks and, among those, with the shortest lifetime. Merges all
// stacks after enough such guesses.
bool MergedLifetimes::merge_smallest_stack() {
  if (kMinFittedPart * fitted_ < locations_.size()) return false;
  const std::vector<Stack> all = groups();
  if (all.empty()) return false;
  std::vector<Merge> stacks;
  if (++guesses_ * locations_.size() > kMaxGuessed) {
    for (const Stack& group : all) stacks.push_back(stacked(group));
  } else {
    const auto order = [&](const Stack& group) {
      const BufferLifetime& one = blocks_[group[0]];
      return std::pair(group.size(), static_cast<std::uint64_t>(one.upper) -
                                         static_cast<std::uint64_t>(one.lower));
    };
    stacks.push_back(
        stacked(*std::min_element(all.begin(), all.end(), [&](const Stack& a, const Stack& b) {
          return order(a) < order(b);
        })));
  }
  return apply(stacks, Reason::Guess);
}

MergedLifetimes::Merge MergedLifetimes::stacked(const Stack& stack) const {
  Merge all{blocks_[stack.front()]};
  all.block.size = 0;
  for (const std::uint32_t block : stack) {
    all.parts.push_back({block, aligned_up(all.block.size, all.block.alignment)});
    all.block.size = all.parts.back().offset + blocks_[block].size;
  }
  return all;
}

bool MergedLifetimes::apply(const std::vector<Merge>& merges, Reason reason) {
  if (merges.empty()) return false;
  std::vector<BufferLifetime> blocks;
  // The new location of each old block.
  std::vector<Location> moved(blocks_.size(), Location{kNoBlock, 0});
  for (const Merge& one : merges) {
    for (const Location& part : one.parts)
      moved[part.block] = {static_cast<std::uint32_t>(blocks.size()), part.offset};
    if (reason == Reason::Sizes) fitted_ += one.parts.size() - 1;
    blocks.push_back(one.block);
  }
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (moved[i].block != kNoBlock) continue;
    moved[i] = {static_cast<std::uint32_t>(blocks.size()), 0};
    blocks.push_back(blocks_[i]);
  }
  for (Location& location : locations_) {
    const Location& of_block = moved[location.block];
    location = {of_block.block, of_block.offset + location.offset};
  }
  blocks_ = std::move(blocks);
  return true;
}

}  // namespace reprise::detail

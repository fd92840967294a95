#include "planner/merged_lifetimes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/packing.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
// Of a group of so many, two are looked at together, and up to four.
constexpr std::size_t kMostPaired = 64, kMostCombined = 8;
// Blocks that begin or end at a time, for a look at all that could be around a middle one.
constexpr std::size_t kMostAround = 16;
// Blocks that are looked at, in all rounds together: as many rounds as there are buffers for some
// hundreds of them, ten for tens of thousands.
constexpr std::size_t kMostLooked = 300'000;
// Groups that are stacked one by one, for each may tell more of the others; then all at once. By
// blocks that are looked at.
constexpr std::size_t kMostGuessed = 30'000;
// None is where sizes speak for fewer than one of so many.
constexpr std::size_t kLeastFitted = 20;

// The one that `is_wanted`, of 2 to `most` of `all`, in their order; empty: there is none.
template <class IsWanted>
std::vector<std::uint32_t> find_combination(const std::vector<std::uint32_t>& all, std::size_t most,
                                            const IsWanted& is_wanted) {
  std::vector<std::uint32_t> chosen;
  for (std::size_t count = 2; count <= std::min(most, all.size()); ++count) {
    std::vector<std::size_t> at(count);
    std::iota(at.begin(), at.end(), std::size_t{0});
    for (;;) {
      chosen.clear();
      for (const std::size_t i : at) chosen.push_back(all[i]);
      if (is_wanted(chosen)) return chosen;
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
bool is_there_once(const std::vector<Value>& sorted, const Value& value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  return last - first == 1;
}

}  // namespace

MergedLifetimes::MergedLifetimes(std::span<const BufferLifetime> buffers)
    : blocks_(buffers.begin(), buffers.end()), places_(buffers.size()) {
  for (std::uint32_t i = 0; i < places_.size(); ++i) places_[i].block = i;
  std::size_t looked = 0;
  do {
    looked += blocks_.size();
  } while (looked <= kMostLooked &&
           (chain() || stack_what_fits() || merge_pinwheels() || stack_fewest()));
}

std::vector<std::uint64_t> MergedLifetimes::offsets_of_buffers(
    std::span<const std::uint64_t> offsets_of_blocks) const {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(places_.size());
  for (const Place& place : places_)
    offsets.push_back(offsets_of_blocks[place.block] + place.offset);
  return offsets;
}

// Of those of one size and alignment, where one alone ends at a time and one alone begins then.
bool MergedLifetimes::chain() {
  struct End {
    Joint joint;
    bool begins = false;
    std::uint32_t block = 0;
  };
  std::vector<End> ends;
  ends.reserve(2 * blocks_.size());
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    ends.push_back({{blocks_[i].lower, blocks_[i].size, blocks_[i].alignment}, true, i});
    ends.push_back({{blocks_[i].upper, blocks_[i].size, blocks_[i].alignment}, false, i});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return std::tie(a.joint, a.begins, a.block) < std::tie(b.joint, b.begins, b.block);
  });
  std::vector<std::uint32_t> next(blocks_.size(), kNoBlock);
  std::vector<std::uint8_t> follows(blocks_.size(), 0);
  for (std::size_t first = 0, last = 0; first < ends.size(); first = last) {
    for (last = first + 1; last < ends.size() && ends[last].joint == ends[first].joint;) ++last;
    if (last - first != 2 || ends[first].begins || !ends[first + 1].begins) continue;
    next[ends[first].block] = ends[first + 1].block;
    follows[ends[first + 1].block] = 1;
  }
  std::vector<Union> chains;
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (follows[i] != 0 || next[i] == kNoBlock) continue;
    Union chain{blocks_[i]};
    for (std::uint32_t link = i; link != kNoBlock; link = next[link]) {
      chain.parts.push_back({link, 0});
      chain.block.upper = blocks_[link].upper;
    }
    chains.push_back(std::move(chain));
  }
  return unite(chains, Reason::Sizes);
}

// Blocks of one lifetime and alignment, two or more, in the order that they come in.
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

std::uint64_t MergedLifetimes::height_of(std::span<const std::uint32_t> stack) const {
  std::uint64_t height = 0;
  for (const std::uint32_t block : stack)
    height = aligned_up(height, blocks_[block].alignment) + blocks_[block].size;
  return height;
}

bool MergedLifetimes::stack_what_fits() {
  const std::vector<Stack> all = groups();
  if (all.empty()) return false;
  std::vector<Joint> ends, begins;
  for (const BufferLifetime& block : blocks_) {
    ends.emplace_back(block.upper, block.size, block.alignment);
    begins.emplace_back(block.lower, block.size, block.alignment);
  }
  std::sort(ends.begin(), ends.end());
  std::sort(begins.begin(), begins.end());
  std::vector<Union> stacks;
  for (const Stack& group : all) {
    const BufferLifetime& one = blocks_[group.front()];
    const auto fits = [&](const Stack& stack) {
      const std::uint64_t height = height_of(stack);
      return is_there_once(ends, {one.lower, height, one.alignment}) ||
             is_there_once(begins, {one.upper, height, one.alignment});
    };
    const std::size_t most = group.size() > kMostPaired ? 0 : group.size() > kMostCombined ? 2 : 4;
    const Stack found = fits(group) ? group : find_combination(group, most, fits);
    if (!found.empty()) stacks.push_back(stacked(found));
  }
  return unite(stacks, Reason::Sizes);
}

// Five that make a rectangle, with none of them reaching across: one from the begin, one to the end
// on each side of a middle one.
bool MergedLifetimes::merge_pinwheels() {
  using At = std::pair<std::int64_t, std::uint32_t>;  // a time, a block that begins or ends then
  std::vector<At> ends, begins;
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    ends.emplace_back(blocks_[i].upper, i);
    begins.emplace_back(blocks_[i].lower, i);
  }
  std::sort(ends.begin(), ends.end());
  std::sort(begins.begin(), begins.end());
  std::vector<std::uint8_t> is_taken(blocks_.size(), 0);
  // Nothing where there are too many to look at each with each.
  const auto at = [](const std::vector<At>& all, std::int64_t time) {
    const auto first = std::lower_bound(all.begin(), all.end(), At{time, 0}),
               last = std::upper_bound(first, all.end(), At{time, kNoBlock});
    return last - first > static_cast<std::ptrdiff_t>(kMostAround)
               ? std::span<const At>()
               : std::span<const At>(first, last);
  };
  std::vector<Union> wheels;
  const auto close_around = [&](std::uint32_t middle) {
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
        for (const auto& [from, c] : at(begins, m.lower)) {
          if (!is_free(c) || blocks_[c].upper <= m.upper ||
              blocks_[c].size != blocks_[d].size - m.size)
            continue;
          for (const auto& [after, b] : at(begins, m.upper)) {
            if (!is_free(b) || blocks_[b].upper != blocks_[c].upper ||
                blocks_[b].size != blocks_[a].size + m.size)
              continue;
            const std::uint64_t below = blocks_[a].size;
            wheels.push_back(
                {{blocks_[a].lower, blocks_[b].upper, below + blocks_[d].size, m.alignment},
                 {{a, 0}, {b, 0}, {d, below}, {middle, below}, {c, below + m.size}}});
            for (const Place& part : wheels.back().parts) is_taken[part.block] = 1;
            return;
          }
        }
      }
    }
  };
  for (std::uint32_t middle = 0; middle < blocks_.size(); ++middle) {
    if (is_taken[middle] == 0) close_around(middle);
  }
  return unite(wheels, Reason::Sizes);
}

// The smallest group, of those the one that lives shortest; all of them once that was tried often
// enough.
bool MergedLifetimes::stack_fewest() {
  if (kLeastFitted * fitted_ < places_.size()) return false;
  const std::vector<Stack> all = groups();
  if (all.empty()) return false;
  std::vector<Union> stacks;
  if (++guesses_ * places_.size() > kMostGuessed) {
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
  return unite(stacks, Reason::Guess);
}

MergedLifetimes::Union MergedLifetimes::stacked(const Stack& stack) const {
  Union all{blocks_[stack.front()]};
  all.block.size = 0;
  for (const std::uint32_t block : stack) {
    all.parts.push_back({block, aligned_up(all.block.size, all.block.alignment)});
    all.block.size = all.parts.back().offset + blocks_[block].size;
  }
  return all;
}

bool MergedLifetimes::unite(const std::vector<Union>& unions, Reason reason) {
  if (unions.empty()) return false;
  std::vector<BufferLifetime> blocks;
  std::vector<Place> place(
      blocks_.size(),
      Place{kNoBlock, 0});  // by block, where it lies in the one that it becomes part of
  for (const Union& one : unions) {
    for (const Place& part : one.parts)
      place[part.block] = {static_cast<std::uint32_t>(blocks.size()), part.offset};
    if (reason == Reason::Sizes) fitted_ += one.parts.size() - 1;
    blocks.push_back(one.block);
  }
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (place[i].block != kNoBlock) continue;
    place[i] = {static_cast<std::uint32_t>(blocks.size()), 0};
    blocks.push_back(blocks_[i]);
  }
  for (Place& of : places_) of = {place[of.block].block, place[of.block].offset + of.offset};
  blocks_ = std::move(blocks);
  return true;
}

}  // namespace reprise::detail

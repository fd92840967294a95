#include "memory/merged_lifetimes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "memory/packing.hpp"
#include "record/command.hpp"

namespace reprise::detail {

namespace {

// Of a group of so many, two are looked at together, and up to four.
constexpr std::size_t kMostPaired = 64, kMostCombined = 8;
// Groups that are stacked one by one, for each may tell more of the others; then all at once. By blocks that are looked at.
constexpr std::size_t kMostGuessed = 30'000;
// None is where sizes speak for fewer than one of so many.
constexpr std::size_t kLeastFitted = 20;

// The one that `is_wanted`, of 2 to `most` of `all`, in their order; empty: there is none.
template <class IsWanted>
std::vector<std::uint32_t> find_combination(const std::vector<std::uint32_t>& all, std::size_t most, const IsWanted& is_wanted) {
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

MergedLifetimes::MergedLifetimes(std::span<const BufferLifetime> buffers) : blocks_(buffers.begin(), buffers.end()), places_(buffers.size()) {
  for (std::uint32_t i = 0; i < places_.size(); ++i) places_[i].block = i;
  while (chain() || stack_what_fits() || stack_fewest()) continue;
}

std::vector<std::uint64_t> MergedLifetimes::offsets_of_buffers(std::span<const std::uint64_t> offsets_of_blocks) const {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(places_.size());
  for (const Place& place : places_) offsets.push_back(offsets_of_blocks[place.block] + place.offset);
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
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return std::tie(a.joint, a.begins, a.block) < std::tie(b.joint, b.begins, b.block); });
  std::vector<std::uint32_t> next(blocks_.size(), kNone);
  std::vector<std::uint8_t> follows(blocks_.size(), 0);
  bool is_any = false;
  for (std::size_t first = 0, last = 0; first < ends.size(); first = last) {
    for (last = first + 1; last < ends.size() && ends[last].joint == ends[first].joint;) ++last;
    if (last - first != 2 || ends[first].begins || !ends[first + 1].begins) continue;
    next[ends[first].block] = ends[first + 1].block;
    follows[ends[first + 1].block] = 1;
    is_any = true;
  }
  if (!is_any) return false;
  std::vector<BufferLifetime> chains;
  std::vector<Place> place(blocks_.size());
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (follows[i] != 0) continue;
    const auto number = static_cast<std::uint32_t>(chains.size());
    chains.push_back(blocks_[i]);
    for (std::uint32_t link = i; link != kNone; link = next[link]) {
      place[link] = {number, 0};
      chains.back().upper = blocks_[link].upper;
    }
  }
  fitted_ += blocks_.size() - chains.size();
  become(std::move(chains), place);
  return true;
}

// Blocks of one lifetime and alignment, two or more, in the order that they come in.
std::vector<MergedLifetimes::Stack> MergedLifetimes::groups() const {
  Stack order(blocks_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) { return std::tuple(blocks_[i].lower, blocks_[i].upper, blocks_[i].alignment); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  std::vector<Stack> groups;
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && key(order[last]) == key(order[first]);) ++last;
    if (last - first > 1) groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return groups;
}

std::uint64_t MergedLifetimes::height_of(std::span<const std::uint32_t> stack) const {
  std::uint64_t height = 0;
  for (const std::uint32_t block : stack) height = aligned_up(height, blocks_[block].alignment) + blocks_[block].size;
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
  std::vector<Stack> stacks;
  for (const Stack& group : all) {
    const BufferLifetime& one = blocks_[group.front()];
    const auto fits = [&](const Stack& stack) {
      const std::uint64_t height = height_of(stack);
      return is_there_once(ends, {one.lower, height, one.alignment}) || is_there_once(begins, {one.upper, height, one.alignment});
    };
    const std::size_t most = group.size() > kMostPaired ? 0 : group.size() > kMostCombined ? 2 : 4;
    Stack found = fits(group) ? group : find_combination(group, most, fits);
    if (found.empty()) continue;
    fitted_ += found.size() - 1;
    stacks.push_back(std::move(found));
  }
  return stack(stacks);
}

// The smallest group, of those the one that lives shortest; all of them once that was tried often enough.
bool MergedLifetimes::stack_fewest() {
  if (kLeastFitted * fitted_ < places_.size()) return false;
  const std::vector<Stack> all = groups();
  if (all.empty()) return false;
  if (++guesses_ * places_.size() > kMostGuessed) return stack(all);
  const auto order = [&](const Stack& group) {
    const BufferLifetime& one = blocks_[group[0]];
    return std::pair(group.size(), static_cast<std::uint64_t>(one.upper) - static_cast<std::uint64_t>(one.lower));
  };
  return stack({*std::min_element(all.begin(), all.end(), [&](const Stack& a, const Stack& b) { return order(a) < order(b); })});
}

bool MergedLifetimes::stack(const std::vector<Stack>& stacks) {
  if (stacks.empty()) return false;
  std::vector<BufferLifetime> merged;
  std::vector<Place> place(blocks_.size());
  std::vector<std::uint8_t> is_merged(blocks_.size(), 0);
  for (const Stack& stack : stacks) {
    BufferLifetime block = blocks_[stack.front()];
    block.size = 0;
    for (const std::uint32_t i : stack) {
      place[i] = {static_cast<std::uint32_t>(merged.size()), aligned_up(block.size, block.alignment)};
      block.size = place[i].offset + blocks_[i].size;
      is_merged[i] = 1;
    }
    merged.push_back(block);
  }
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (is_merged[i] != 0) continue;
    place[i] = {static_cast<std::uint32_t>(merged.size()), 0};
    merged.push_back(blocks_[i]);
  }
  become(std::move(merged), place);
  return true;
}

void MergedLifetimes::become(std::vector<BufferLifetime> blocks, std::span<const Place> place) {
  for (Place& of : places_) of = {place[of.block].block, place[of.block].offset + of.offset};
  blocks_ = std::move(blocks);
}

}  // namespace reprise::detail

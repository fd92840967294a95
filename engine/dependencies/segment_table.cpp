#include "dependencies/segment_table.hpp"

#include <algorithm>
#include <numeric>

#include "record/recording.hpp"

namespace reprise::detail {

namespace {

// So many slots an access are less work than looking ends up in a list.
constexpr std::uint64_t kSlotsOfAnAccess = 16, kSlotsAtLeast = 1024;

}  // namespace

SlotSet::SlotSet(std::uint32_t limit) {
  std::size_t words = limit;
  do {
    words = (words + 63) / 64;
    levels_.emplace_back(std::max<std::size_t>(words, 1), 0);
  } while (words > 1);
}

void SlotSet::insert(std::uint32_t slot) noexcept {
  for (auto& level : levels_) {
    std::uint64_t& word = level[slot / 64];
    const bool was_empty = word == 0;
    word |= std::uint64_t{1} << (slot % 64);
    if (!was_empty) return;
    slot /= 64;
  }
}

void SlotSet::erase(std::uint32_t slot) noexcept {
  for (auto& level : levels_) {
    std::uint64_t& word = level[slot / 64];
    word &= ~(std::uint64_t{1} << (slot % 64));
    if (word != 0) return;
    slot /= 64;
  }
}

std::uint32_t SlotSet::at_or_after(std::uint32_t slot) const noexcept {
  std::uint64_t at = slot;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (at / 64 >= levels_[level].size()) return kNone;
    const std::uint64_t rest = levels_[level][at / 64] >> (at % 64);
    if (rest == 0) {
      at = at / 64 + 1;
      continue;
    }
    at += static_cast<unsigned>(std::countr_zero(rest));
    while (level-- > 0) at = at * 64 + static_cast<unsigned>(std::countr_zero(levels_[level][at]));
    return static_cast<std::uint32_t>(at);
  }
  return kNone;
}

std::uint32_t SlotSet::at_or_before(std::uint32_t slot) const noexcept {
  std::uint64_t at = slot;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (at / 64 >= levels_[level].size()) at = levels_[level].size() * 64 - 1;
    const std::uint64_t rest = levels_[level][at / 64] << (63 - at % 64);
    if (rest == 0) {
      if (at < 64) return kNone;
      at = at / 64 - 1;
      continue;
    }
    at -= static_cast<unsigned>(std::countl_zero(rest));
    while (level-- > 0)
      at = at * 64 + 63 - static_cast<unsigned>(std::countl_zero(levels_[level][at]));
    return static_cast<std::uint32_t>(at);
  }
  return kNone;
}

std::uint32_t SegmentKeys::slot_of(std::uint64_t byte) const noexcept {
  if (listed.empty())
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(byte >> shift, count - 1));
  const auto above = std::upper_bound(listed.begin(), listed.end(), byte);
  return above == listed.begin() ? 0 : static_cast<std::uint32_t>(above - listed.begin() - 1);
}

SegmentKeysOfBuffers::SegmentKeysOfBuffers(const Recording& recording)
    : recording_(recording), ends_(recording.buffers.size()) {
  for (const BufferAccess& access : recording.accesses) {
    if (access.shape != 0) continue;
    Ends& ends = ends_[access.buffer];
    ends.all |= access.begin | access.end;
    ends.last = std::max(ends.last, access.end);
    ++ends.accesses;
  }
}

SegmentKeys SegmentKeysOfBuffers::of(std::uint32_t buffer) {
  const Ends& ends = ends_[buffer];
  SegmentKeys keys;
  keys.shift = ends.all == 0 ? 0 : static_cast<unsigned>(std::countr_zero(ends.all));
  const std::uint64_t slots = (ends.last >> keys.shift) + 1;
  if (slots <= kSlotsOfAnAccess * ends.accesses + kSlotsAtLeast) {
    keys.count = static_cast<std::uint32_t>(slots);
    return keys;
  }
  if (first_.empty()) list_ends();
  keys.listed.assign(listed_.begin() + first_[buffer], listed_.begin() + first_[buffer + 1]);
  std::sort(keys.listed.begin(), keys.listed.end());
  keys.listed.erase(std::unique(keys.listed.begin(), keys.listed.end()), keys.listed.end());
  keys.count = static_cast<std::uint32_t>(keys.listed.size());
  return keys;
}

void SegmentKeysOfBuffers::list_ends() {
  first_.assign(ends_.size() + 2, 0);
  for (std::size_t buffer = 0; buffer < ends_.size(); ++buffer)
    first_[buffer + 2] = first_[buffer + 1] + 2 * ends_[buffer].accesses;
  listed_.resize(first_.back());
  for (const BufferAccess& access : recording_.accesses) {
    if (access.shape != 0) continue;
    std::uint32_t& next = first_[access.buffer + 1];
    listed_[next++] = access.begin;
    listed_[next++] = access.end;
  }
}

}  // namespace reprise::detail

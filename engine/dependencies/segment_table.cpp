#include "dependencies/segment_table.hpp"

#include <algorithm>
#include <numeric>

namespace reprise::detail {

namespace {

// Below this number of slots, a dense table is cheaper than a search in a list of bounds.
constexpr std::uint64_t kSlotsPerAccess = 16, kMinSlots = 1024;

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
  std::uint64_t position = slot;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (position / 64 >= levels_[level].size()) return kNone;
    const std::uint64_t bits = levels_[level][position / 64] >> (position % 64);
    if (bits == 0) {
      position = position / 64 + 1;
      continue;
    }
    position += static_cast<unsigned>(std::countr_zero(bits));
    while (level-- > 0)
      position = position * 64 + static_cast<unsigned>(std::countr_zero(levels_[level][position]));
    return static_cast<std::uint32_t>(position);
  }
  return kNone;
}

std::uint32_t SlotSet::at_or_before(std::uint32_t slot) const noexcept {
  std::uint64_t position = slot;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (position / 64 >= levels_[level].size()) position = levels_[level].size() * 64 - 1;
    const std::uint64_t bits = levels_[level][position / 64] << (63 - position % 64);
    if (bits == 0) {
      if (position < 64) return kNone;
      position = position / 64 - 1;
      continue;
    }
    position -= static_cast<unsigned>(std::countl_zero(bits));
    while (level-- > 0)
      position =
          position * 64 + 63 - static_cast<unsigned>(std::countl_zero(levels_[level][position]));
    return static_cast<std::uint32_t>(position);
  }
  return kNone;
}

std::uint32_t SegmentKeys::slot_of(std::uint64_t byte) const noexcept {
  if (listed.empty())
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(byte >> shift, count - 1));
  const auto above = std::upper_bound(listed.begin(), listed.end(), byte);
  return above == listed.begin() ? 0 : static_cast<std::uint32_t>(above - listed.begin() - 1);
}

BufferSegmentKeys::BufferSegmentKeys(std::span<const BufferAccess> accesses, std::size_t buffers)
    : accesses_(accesses), bounds_(buffers) {
  for (const BufferAccess& access : accesses) {
    if (access.shape != 0) continue;
    Bounds& bounds = bounds_[access.buffer];
    bounds.combined |= access.begin | access.end;
    bounds.max_end = std::max(bounds.max_end, access.end);
    ++bounds.accesses;
  }
}

SegmentKeys BufferSegmentKeys::of(std::uint32_t buffer) {
  const Bounds& bounds = bounds_[buffer];
  SegmentKeys keys;
  keys.shift = bounds.combined == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bounds.combined));
  const std::uint64_t last = bounds.max_end >> keys.shift;
  if (last < kSlotsPerAccess * bounds.accesses + kMinSlots) {
    keys.count = static_cast<std::uint32_t>(last + 1);
    return keys;
  }
  if (first_.empty()) collect_bounds();
  keys.listed.assign(listed_.begin() + first_[buffer], listed_.begin() + first_[buffer + 1]);
  std::sort(keys.listed.begin(), keys.listed.end());
  keys.listed.erase(std::unique(keys.listed.begin(), keys.listed.end()), keys.listed.end());
  keys.count = static_cast<std::uint32_t>(keys.listed.size());
  return keys;
}

void BufferSegmentKeys::collect_bounds() {
  first_.assign(bounds_.size() + 2, 0);
  for (std::size_t buffer = 0; buffer < bounds_.size(); ++buffer)
    first_[buffer + 2] = first_[buffer + 1] + 2 * bounds_[buffer].accesses;
  listed_.resize(first_.back());
  for (const BufferAccess& access : accesses_) {
    if (access.shape != 0) continue;
    std::uint32_t& next = first_[access.buffer + 1];
    listed_[next++] = access.begin;
    listed_[next++] = access.end;
  }
}

}  // namespace reprise::detail

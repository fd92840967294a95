// SegmentTable: disjoint ranges of one buffer with a value each, addressed by their first byte. A
// map whose possible keys are known in advance, so it allocates nothing per range. Threads: one
// thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "record/command.hpp"

namespace reprise::detail {

// A set of integers below a known limit: a bit per integer and, in each further level, a bit per
// word of the level below.
class SlotSet {
 public:
  explicit SlotSet(std::uint32_t limit);
  void insert(std::uint32_t slot) noexcept;
  void erase(std::uint32_t slot) noexcept;
  [[nodiscard]] bool contains(std::uint32_t slot) const noexcept {
    return (levels_.front()[slot / 64] >> (slot % 64) & 1) != 0;
  }
  // The nearest member; kNone if there is none. `slot` may equal the limit.
  [[nodiscard]] std::uint32_t at_or_after(std::uint32_t slot) const noexcept;
  [[nodiscard]] std::uint32_t at_or_before(std::uint32_t slot) const noexcept;

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // [0]: the members; the last level has one word
};

// The possible bounds of ranges of a buffer: all multiples of a power of two, or an explicit list.
struct SegmentKeys {
  unsigned shift = 0;
  std::uint32_t count = 0;                 // number of slots, including the last bound
  std::vector<std::uint64_t> listed = {};  // ascending; empty: all multiples of 2^shift
  // The slot of the last key that is <= `byte`; 0 if there is none.
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t byte) const noexcept;
  [[nodiscard]] std::uint64_t byte_of(std::uint32_t slot) const noexcept {
    return listed.empty() ? std::uint64_t{slot} << shift : listed[slot];
  }
};

// `Value` must be trivially copyable.
template <class Value>
class SegmentTable {
 public:
  struct Segment {
    std::uint32_t end = 0;  // slot
    Value value;
  };

  explicit SegmentTable(SegmentKeys keys)
      : keys_(std::move(keys)),
        starts_(keys_.count),
        segments_(std::make_unique_for_overwrite<Segment[]>(keys_.count)) {}

  [[nodiscard]] std::uint32_t slot_of(std::uint64_t byte) const noexcept {
    return keys_.slot_of(byte);
  }
  [[nodiscard]] std::uint64_t byte_of(std::uint32_t slot) const noexcept {
    return keys_.byte_of(slot);
  }

  // The nearest segment start; kNone if there is none.
  [[nodiscard]] std::uint32_t at_or_after(std::uint32_t slot) const noexcept {
    return starts_.at_or_after(slot);
  }
  [[nodiscard]] std::uint32_t at_or_before(std::uint32_t slot) const noexcept {
    return starts_.at_or_before(slot);
  }
  [[nodiscard]] Segment& operator[](std::uint32_t slot) noexcept { return segments_[slot]; }
  [[nodiscard]] const Segment& operator[](std::uint32_t slot) const noexcept {
    return segments_[slot];
  }

  // is_segment: [begin, end) is exactly one segment. is_free: no segment overlaps [begin, end).
  // Requires begin < end.
  [[nodiscard]] bool is_segment(std::uint32_t begin, std::uint32_t end) const noexcept {
    return starts_.contains(begin) && segments_[begin].end == end;
  }
  [[nodiscard]] bool is_free(std::uint32_t begin, std::uint32_t end) const noexcept {
    const std::uint32_t before = starts_.at_or_before(end - 1);
    return before == kNone || segments_[before].end <= begin;
  }

  // [begin, end) must not overlap a segment.
  void insert(std::uint32_t begin, std::uint32_t end, const Value& value) noexcept {
    starts_.insert(begin);
    segments_[begin] = {end, value};
  }
  void erase(std::uint32_t begin) noexcept { starts_.erase(begin); }
  // Splits the segment that contains `slot`, if any, at `slot`.
  void cut(std::uint32_t slot) noexcept {
    const std::uint32_t before = starts_.at_or_before(slot);
    if (before == kNone || before == slot || segments_[before].end <= slot) return;
    insert(slot, segments_[before].end, segments_[before].value);
    segments_[before].end = slot;
  }

 private:
  SegmentKeys keys_;
  SlotSet starts_;
  std::unique_ptr<Segment[]> segments_;  // by slot; valid for members of starts_
};

// Computes the keys of each of `buffers` buffers from its dense accesses.
class BufferSegmentKeys {
 public:
  // `accesses` must outlive this object.
  BufferSegmentKeys(std::span<const BufferAccess> accesses, std::size_t buffers);
  [[nodiscard]] SegmentKeys of(std::uint32_t buffer);

 private:
  void collect_bounds();

  std::span<const BufferAccess> accesses_;
  struct Bounds {
    std::uint64_t combined = 0;  // bitwise or of all bounds
    std::uint64_t max_end = 0;
    std::uint32_t accesses = 0;
  };
  std::vector<Bounds> bounds_;
  std::vector<std::uint32_t> first_;  // by buffer: start in listed_; filled on first use
  std::vector<std::uint64_t> listed_;
};

}  // namespace reprise::detail

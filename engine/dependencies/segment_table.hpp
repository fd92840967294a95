// SegmentTable: disjoint ranges of one buffer, each with a value, found by the bytes they start at:
// a map whose keys are known beforehand, and so without a node or an allocation a range. Threads:
// one at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "record/command.hpp"

namespace reprise::detail {

struct Recording;

// A set of small numbers, each below a limit that is known. 64 a word, and a bit for each word
// above that.
class SlotSet {
 public:
  explicit SlotSet(std::uint32_t limit);
  void insert(std::uint32_t slot) noexcept;
  void erase(std::uint32_t slot) noexcept;
  [[nodiscard]] bool contains(std::uint32_t slot) const noexcept {
    return (levels_.front()[slot / 64] >> (slot % 64) & 1) != 0;
  }
  // The nearest member; kNone where there is none. `slot` may be the limit.
  [[nodiscard]] std::uint32_t at_or_after(std::uint32_t slot) const noexcept;
  [[nodiscard]] std::uint32_t at_or_before(std::uint32_t slot) const noexcept;

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // members first; the last has one word
};

// The bytes at which ranges of a buffer begin and end: multiples of a power of two, or listed.
struct SegmentKeys {
  unsigned shift = 0;
  std::uint32_t count = 0;                 // slots, that of the last end included
  std::vector<std::uint64_t> listed = {};  // ascending; empty: all multiples
  // The slot of a key, or of the last one below `byte`; 0 where there is none below.
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t byte) const noexcept;
  [[nodiscard]] std::uint64_t byte_of(std::uint32_t slot) const noexcept {
    return listed.empty() ? std::uint64_t{slot} << shift : listed[slot];
  }
};

// `Value` is trivially copyable.
template <class Value>
class SegmentTable {
 public:
  struct Segment {
    std::uint32_t end = 0;  // slot
    Value value;
  };

  explicit SegmentTable(SegmentKeys keys)
      : keys_(std::move(keys)),
        begins_(keys_.count),
        segments_(std::make_unique_for_overwrite<Segment[]>(keys_.count)) {}

  [[nodiscard]] std::uint32_t slot_of(std::uint64_t byte) const noexcept {
    return keys_.slot_of(byte);
  }
  [[nodiscard]] std::uint64_t byte_of(std::uint32_t slot) const noexcept {
    return keys_.byte_of(slot);
  }

  // The segment that begins there, kNone: none.
  [[nodiscard]] std::uint32_t at_or_after(std::uint32_t slot) const noexcept {
    return begins_.at_or_after(slot);
  }
  [[nodiscard]] std::uint32_t at_or_before(std::uint32_t slot) const noexcept {
    return begins_.at_or_before(slot);
  }
  [[nodiscard]] Segment& operator[](std::uint32_t slot) noexcept { return segments_[slot]; }
  [[nodiscard]] const Segment& operator[](std::uint32_t slot) const noexcept {
    return segments_[slot];
  }

  // A segment begins and ends there; no segment overlaps it. begin < end.
  [[nodiscard]] bool is_one(std::uint32_t begin, std::uint32_t end) const noexcept {
    return begins_.contains(begin) && segments_[begin].end == end;
  }
  [[nodiscard]] bool is_free(std::uint32_t begin, std::uint32_t end) const noexcept {
    const std::uint32_t before = begins_.at_or_before(end - 1);
    return before == kNone || segments_[before].end <= begin;
  }

  // Overlaps none.
  void insert(std::uint32_t begin, std::uint32_t end, const Value& value) noexcept {
    begins_.insert(begin);
    segments_[begin] = {end, value};
  }
  void erase(std::uint32_t begin) noexcept { begins_.erase(begin); }
  // Cuts in two what lies across `slot`.
  void cut(std::uint32_t slot) noexcept {
    const std::uint32_t before = begins_.at_or_before(slot);
    if (before == kNone || before == slot || segments_[before].end <= slot) return;
    insert(slot, segments_[before].end, segments_[before].value);
    segments_[before].end = slot;
  }

 private:
  SegmentKeys keys_;
  SlotSet begins_;
  std::unique_ptr<Segment[]> segments_;  // by slot; those in begins_ mean something
};

// The keys of each buffer of a recording, by its dense accesses.
class SegmentKeysOfBuffers {
 public:
  // `recording` outlives this.
  explicit SegmentKeysOfBuffers(const Recording& recording);
  [[nodiscard]] SegmentKeys of(std::uint32_t buffer);

 private:
  void list_ends();

  const Recording& recording_;
  struct Ends {
    std::uint64_t all = 0, last = 0;  // all of them or-ed; the highest
    std::uint32_t accesses = 0;
  };
  std::vector<Ends> ends_;
  std::vector<std::uint32_t> first_;  // by buffer, in listed_; made when it is first needed
  std::vector<std::uint64_t> listed_;
};

}  // namespace reprise::detail

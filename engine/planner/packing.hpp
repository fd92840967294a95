// Packing: buffers of given sizes get offsets so that no two that conflict share bytes. What that
// means is given as pairs; nothing here knows why they conflict: lifetimes that overlap, or uses
// that no edge of a graph orders. Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

struct PackItem {
  std::uint64_t bytes = 0;  // above 0
  std::uint64_t alignment = 1;
};

// [begin, end) of a numbering.
struct IndexRange {
  std::uint32_t begin = 0, end = 0;
};

// Items, their conflicts, and sections: sets of items that conflict pairwise, numbered so that each
// item is in few ranges of them.
struct PackProblem {
  std::vector<PackItem> items;
  std::vector<std::uint32_t> first_conflict;  // by item, and one more
  std::vector<std::uint32_t> conflicts;       // items, both ways
  std::uint32_t sections = 0;
  std::vector<std::uint32_t> first_range;  // by item, and one more
  std::vector<IndexRange> ranges;          // sections that the item is in, ascending
  // Items conflict only where they are in one section, and each has one range: what no section
  // connects is independent.
  bool is_interval = false;

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(items.size());
  }
  [[nodiscard]] std::span<const std::uint32_t> conflicts_of(std::uint32_t item) const {
    return {conflicts.data() + first_conflict[item], conflicts.data() + first_conflict[item + 1]};
  }
  [[nodiscard]] std::span<const IndexRange> ranges_of(std::uint32_t item) const {
    return {ranges.data() + first_range[item], ranges.data() + first_range[item + 1]};
  }
};

struct Packing {
  std::vector<std::uint64_t> offsets;  // by item
  std::uint64_t height = 0;
};

[[nodiscard]] inline std::uint64_t aligned_up(std::uint64_t value, std::uint64_t alignment) {
  return alignment == 1 ? value : (value + alignment - 1) / alignment * alignment;
}

// Items as both ways' pairs: fills first_conflict and conflicts. Each pair once.
void set_conflicts(PackProblem& problem,
                   std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

// Of each section: the sum of its items' bytes; and the greatest of them, which no packing falls
// below.
[[nodiscard]] std::vector<std::uint64_t> section_bytes(const PackProblem& problem);
[[nodiscard]] std::uint64_t section_bound(const PackProblem& problem);

}  // namespace reprise::detail

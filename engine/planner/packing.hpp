// Strip packing: offsets for items so that no two conflicting items share bytes. Conflicts are
// pairs of items. Their cause, such as overlapping lifetimes or uses that no edge orders, is
// unknown here. Knows no device. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace reprise::detail {

struct PackItem {
  std::uint64_t bytes = 0;  // above 0
  std::uint64_t alignment = 1;
};

// Half-open: [begin, end).
struct IndexRange {
  std::uint32_t begin = 0, end = 0;
};

// Items, their conflicts, and cliques. A clique is a set of items that conflict pairwise. Cliques
// are numbered so that each item occupies few ranges of numbers.
struct PackProblem {
  std::vector<PackItem> items;
  std::vector<std::uint32_t> first_conflict;  // by item, with an end entry
  std::vector<std::uint32_t> conflicts;       // items; each pair is stored in both directions
  std::uint32_t clique_count = 0;
  std::vector<std::uint32_t> first_range;  // by item, with an end entry
  std::vector<IndexRange> ranges;          // cliques of the item, ascending
  // Items conflict only if they share a clique, and each item has one range. Items without a chain
  // of common cliques are therefore independent.
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

inline constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};  // the offset of an unplaced item

struct Packing {
  std::vector<std::uint64_t> offsets;  // by item
  std::uint64_t peak_bytes = 0;        // the maximum end of an item
};

// Fills first_conflict and conflicts. `pairs` contains each conflicting pair once.
void set_conflicts(PackProblem& problem,
                   std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

// The sum of the item sizes of each clique.
[[nodiscard]] std::vector<std::uint64_t> clique_bytes(const PackProblem& problem);
// The maximum of these sums and of all item sizes: a lower bound of the peak of every packing.
[[nodiscard]] std::uint64_t clique_bound(const PackProblem& problem);

}  // namespace reprise::detail

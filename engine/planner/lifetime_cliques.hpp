// Lifetimes as ranges of sections: the sets of buffers that live at once, those only that no other
// such set contains. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/memory_plan.hpp>

#include "planner/packing.hpp"

namespace reprise::detail {

struct LifetimeCliques {
  std::vector<IndexRange> ranges;  // by buffer
  std::uint32_t sections = 0;
  std::vector<std::uint32_t> by_begin;  // buffers, by the first section, then by index
  std::uint64_t pairs = 0;              // of buffers that live at once
};

// Buffers have non-empty lifetimes. O(n log n).
[[nodiscard]] LifetimeCliques find_cliques(std::span<const BufferLifetime> buffers);

// Groups of ranges that no section connects with another group: indices in by_begin's order.
[[nodiscard]] std::vector<IndexRange> independent_groups(const LifetimeCliques& sections);

// The problem of some of the buffers, item i being which[i]; `items` are of all buffers. O(n log n
// + pairs).
[[nodiscard]] PackProblem interval_problem(const LifetimeCliques& sections,
                                           std::span<const PackItem> items,
                                           std::span<const std::uint32_t> which);

}  // namespace reprise::detail

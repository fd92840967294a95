// Lifetimes as ranges of maximal cliques. A clique is a set of buffers that are alive at the same
// time; it is maximal if no other such set contains it. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/memory_plan.hpp>

#include "planner/packing.hpp"

namespace reprise::detail {

struct LifetimeCliques {
  std::vector<IndexRange> ranges;       // cliques, by buffer
  std::uint32_t count = 0;              // of cliques
  std::vector<std::uint32_t> by_start;  // buffers, by first clique, then by index
  std::uint64_t overlaps = 0;           // pairs of buffers whose lifetimes overlap
};

// Lifetimes are not empty. O(n log n).
[[nodiscard]] LifetimeCliques find_cliques(std::span<const BufferLifetime> buffers);

// Groups of buffers such that no clique contains buffers of two groups, as ranges of `by_start`.
[[nodiscard]] std::vector<IndexRange> independent_groups(const LifetimeCliques& cliques);

// The packing problem of a subset of the buffers. Item i is buffer selected[i]; `items` describes
// all buffers. O(n log n + overlaps).
[[nodiscard]] PackProblem interval_problem(const LifetimeCliques& cliques,
                                           std::span<const PackItem> items,
                                           std::span<const std::uint32_t> selected);

}  // namespace reprise::detail

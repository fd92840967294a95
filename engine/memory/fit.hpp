// Two ways to give transients offsets in a slab. Both are right for any order; which one is smaller
// depends on the graph. Pure functions; know no device.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct Fit {
  std::vector<std::uint64_t> offsets;  // by transient; 0 for one without uses
  std::uint64_t slab_bytes = 0;
};

// In creation order of the first use: the smallest stretch of the slab whose earlier owners are all
// over by then. Near O(transients * chains).
[[nodiscard]] Fit fit_by_position(const TransientUses& uses, const ReachabilityIndex& order);

// Largest first, each into the smallest gap between those that it may not share with.
// O(transients^2).
[[nodiscard]] Fit fit_by_size(const TransientUses& uses, const ReachabilityIndex& order);

}  // namespace reprise::detail

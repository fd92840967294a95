// Transients of a partial order as lifetimes: any two that may not share bytes live at once, so
// that a packing of the lifetimes is one of the transients. The other way round it need not hold:
// branches that run beside each other for long cost bytes. Exact for chains. Knows no device.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/memory_plan.hpp>

#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct IntervalRelaxation {
  std::vector<std::uint32_t> transients;  // those of some bytes, in order of their first use
  std::vector<BufferLifetime> lifetimes;  // of the same: from its place in that list to behind the
                                          // last one that it may not share with
};

// O(transients * chains + uses log uses).
[[nodiscard]] IntervalRelaxation relax_to_intervals(const TransientUses& uses,
                                                    const ReachabilityIndex& order);

}  // namespace reprise::detail

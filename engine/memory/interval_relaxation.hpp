// Lifetimes that approximate a partial order: the lifetimes of two transients overlap if the
// transients may not share bytes, so every plan of the lifetimes is a placement of the transients.
// The converse does not hold; long concurrent branches cost bytes. Exact for chains. Knows no
// device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/memory_plan.hpp>

#include "memory/reachability_index.hpp"

namespace reprise::detail {

struct IntervalRelaxation {
  // Transients that are not empty, in order of their first use.
  std::vector<std::uint32_t> transients;
  // By index in `transients`: from that index until after the last transient that may not share its
  // bytes.
  std::vector<BufferLifetime> lifetimes;
};

// O(transients * chains + uses log uses).
[[nodiscard]] IntervalRelaxation relax_to_intervals(const TransientUses& uses,
                                                    const ReachabilityIndex& order);

}  // namespace reprise::detail

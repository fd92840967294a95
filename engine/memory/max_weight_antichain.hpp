// The maximum-weight set of transients of which no two may share bytes: a lower bound of the slab.
// "Every use of a precedes every use of b" is a partial order, so the set is an antichain. Its
// weight follows from a maximum flow (Dilworth's theorem with weights). Knows no device. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/precedence.hpp"

namespace reprise::detail {

struct MaxWeightAntichain {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> members;  // items, ascending
};

// Exact if ReachabilityIndex is exact. Computes a maximum flow over the cover relation.
[[nodiscard]] MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                                           const Precedence& precedence);

}  // namespace reprise::detail

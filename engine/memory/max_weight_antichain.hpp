// The heaviest set of transients no two of which may share bytes: no placement is smaller. "Every
// use of one before every use of the other" is a partial order, so that the set is an antichain,
// and its weight what a flow leaves over (Dilworth, with weights). Knows no device. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/precedence.hpp"

namespace reprise::detail {

struct MaxWeightAntichain {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> members;  // items, ascending
};

// Exact as far as ReachabilityIndex is. A maximum flow over the pairs that imply all others.
[[nodiscard]] MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                                           const Precedence& precedence);

}  // namespace reprise::detail

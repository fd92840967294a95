// The heaviest set of transients no two of which may share bytes: no placement is smaller. "Every use of one before every use of the other" is
// a partial order, so that the set is an antichain, and its weight what a flow leaves over (Dilworth, with weights). Knows no device.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/use_order.hpp"

namespace reprise::detail {

struct HeaviestSet {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> members;  // transients, ascending
};

// Exact as far as UseOrder is. O(n^2) pairs and a maximum flow over those that are ordered: for up to some hundreds of transients.
[[nodiscard]] HeaviestSet find_heaviest_set(const TransientUses& uses, const UseOrder& order);

}  // namespace reprise::detail

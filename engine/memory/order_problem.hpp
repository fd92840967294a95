// Transients as a packing problem: they conflict unless all uses of one come before all of the other. Knows no device.
// Threads: pure functions.
#pragma once

#include "memory/heaviest_set.hpp"
#include "memory/packing.hpp"
#include "memory/use_order.hpp"

namespace reprise::detail {

struct OrderProblem {
  PackProblem packing;
  std::vector<std::uint32_t> transients;  // by item
};

// Sections: what lives at once where nodes run one after the other as they were made, and `heaviest`. O(n^2).
[[nodiscard]] OrderProblem make_order_problem(const TransientUses& uses, const UseOrder& order, const HeaviestSet& heaviest);

}  // namespace reprise::detail

// Transients as a packing problem: they conflict unless all uses of one come before all of the
// other. Knows no device. Threads: pure functions.
#pragma once

#include "memory/max_weight_antichain.hpp"
#include "planner/packing.hpp"

namespace reprise::detail {

// Items are the precedence's. Sections: what lives at once where nodes run one after the other as
// they were made, and `heaviest`. O(n^2).
[[nodiscard]] PackProblem make_order_problem(const TransientUses& uses,
                                             const Precedence& precedence,
                                             const MaxWeightAntichain& heaviest);

}  // namespace reprise::detail

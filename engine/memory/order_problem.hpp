// The packing problem of transients: two of them conflict unless all uses of one precede all uses
// of the other. Knows no device. Threads: pure functions.
#pragma once

#include "memory/precedence.hpp"
#include "planner/packing.hpp"

namespace reprise::detail {

// Items are those of `precedence`. The cliques are the transients alive together if nodes run one
// by one in creation order, and `antichain`. O(n^2).
[[nodiscard]] PackProblem make_order_problem(const TransientUses& uses,
                                             const Precedence& precedence,
                                             const MaxWeightAntichain& antichain);

}  // namespace reprise::detail

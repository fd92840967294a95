// What keeps the executable of one plan from being given another plan's parameters in place, by the
// rules that CUDA has for it (cudaGraphExecUpdate). A pure function; knows no device and no
// addresses.
#pragma once

#include <cstdint>

#include <reprise/graph_update.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

struct PlanDifference {
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;
  std::uint32_t node = kNone, from = kNone;  // of the new plan's lowered graph; `from`: the other
                                             // end of an edge that the old one has not
};

// The first that there is, in creation order. A number of nodes or of edges that differs has no
// node.
[[nodiscard]] PlanDifference find_difference(const Plan& before, const Plan& after);

}  // namespace reprise::detail

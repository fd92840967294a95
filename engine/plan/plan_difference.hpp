// Determines whether the executable of one plan can take another plan's parameters in place, by the
// rules of cudaGraphExecUpdate. Knows no device and no addresses. Threads: pure functions.
#pragma once

#include <cstdint>

#include <reprise/graph_update.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

struct PlanDifference {
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;
  // Nodes of the new plan's lowered graph. `from`: the source of an edge that the old plan lacks.
  std::uint32_t node = kNone, from = kNone;
};

// The first difference in creation order. Different node or edge counts are reported without a
// node.
[[nodiscard]] PlanDifference find_difference(const Plan& before, const Plan& after);

}  // namespace reprise::detail

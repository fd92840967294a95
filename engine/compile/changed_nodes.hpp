// The nodes that differ between two plans of one graph. Threads: a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/exec_update.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

// A plan with the bindings of its nodes.
struct BoundPlan {
  const Plan& plan;
  const Bindings& bindings;
};

struct ChangedNodes {
  std::vector<std::uint32_t> nodes;  // lowered, ascending
  // False if snapshot bytes, functions or whole bodies differ.
  bool can_be_set_one_by_one = true;
};

// Empty if find_difference() finds a difference that no update in place supports, or the nodes run
// other commands: every node may differ.
[[nodiscard]] std::optional<ChangedNodes> find_changed_nodes(const BoundPlan& before,
                                                             const BoundPlan& after);

}  // namespace reprise::detail

// Which nodes of a graph an update of the whole recording has to touch. A pure function. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/exec_update.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

// A plan, with what its nodes are given.
struct BoundPlan {
  const Plan& plan;
  const Bindings& bindings;
};

// Lowered nodes, ascending, that do something else after than before. Empty optional where setting nodes one by one can't do it: another
// structure, nodes of another type, bytes or functions that the recording took with it.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> find_changed_nodes(const BoundPlan& before, const BoundPlan& after);

}  // namespace reprise::detail

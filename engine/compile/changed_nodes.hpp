// Which nodes of a graph an update of the whole recording has to touch. A pure function. Threads:
// any.
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

struct ChangedNodes {
  std::vector<std::uint32_t> nodes;  // lowered, ascending: they do something else after than before
  bool can_be_set_one_by_one = true;  // no: bytes or functions that the recording took with it, or
                                      // whole recordings, are other ones
};

// Empty where no update in place can do it, by find_difference(), or the commands of nodes are
// other ones: every node may have changed.
[[nodiscard]] std::optional<ChangedNodes> find_changed_nodes(const BoundPlan& before,
                                                             const BoundPlan& after);

}  // namespace reprise::detail

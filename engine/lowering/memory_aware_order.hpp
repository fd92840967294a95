// Orders of a schedule's nodes that keep few transient bytes alive, and lanes for them: what a
// graph gives up concurrency for. Pure functions; know no device and no placement: bytes alive
// between first and last use, as nodes run one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/list_schedule.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

enum class MemoryAwareOrder : std::uint8_t {
  Recorded,  // as the commands were recorded
  Fewest     // always the node that frees most, or takes least, of those that may come next
};

// DependencyGraph nodes in a topological order. O(nodes log nodes + edges + accesses).
[[nodiscard]] std::vector<std::uint32_t> memory_aware_order(const Recording& recording,
                                                            const DependencyGraph& dependencies,
                                                            MemoryAwareOrder order);

// Puts nodes into at most `max_lanes` lanes in the given topological order: each goes on in a
// parent's lane where that parent is the lane's last, else in the lane that frees first, all nodes
// costing the same. O((nodes + edges) * log lanes).
[[nodiscard]] LaneAssignment assign_lanes_in_order(const DependencyGraph& dependencies,
                                                   const std::vector<std::uint32_t>& order,
                                                   std::uint32_t max_lanes);

}  // namespace reprise::detail

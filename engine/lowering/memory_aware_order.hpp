// Topological orders that keep few transient bytes live, and their lanes; used to trade concurrency
// for memory. Live bytes are counted between first and last use in sequential execution. Knows no
// device and no placement. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/list_schedule.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

enum class MemoryAwareOrder : std::uint8_t {
  Recorded,  // recorded order
  MinBytes   // greedy: the ready node with the smallest change of live bytes
};

// Returns the nodes in a topological order. O(nodes log nodes + edges + accesses).
[[nodiscard]] std::vector<std::uint32_t> memory_aware_order(const Recording& recording,
                                                            const DependencyGraph& dependencies,
                                                            MemoryAwareOrder order);

// Assigns nodes to at most `max_lanes` lanes in the given topological order, with unit costs. A
// node continues a parent's lane if that parent is the lane's last node; otherwise it takes the
// lane that becomes free first. O((nodes + edges) * log lanes).
[[nodiscard]] LaneAssignment assign_lanes_in_order(const DependencyGraph& dependencies,
                                                   const std::vector<std::uint32_t>& order,
                                                   std::uint32_t max_lanes);

}  // namespace reprise::detail

// List schedule for nodes with known costs (HEFT): the ready node with the highest upward rank
// starts first, preferably in a parent's lane. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/list_schedule.hpp"

namespace reprise::detail {

// Time between the end of a node and the start of a dependent node; the same for the next node of a
// lane that waits for nothing else; minimum time between two starts. Measured:
// engine/docs/design/lanes.md.
inline constexpr std::uint32_t kNodeLatencyNs = 1300;
inline constexpr std::uint32_t kLaneLatencyNs = 850;
inline constexpr std::uint32_t kNodeIssueNs = 180;
// Bias of a node's time that timestamps measured: the timestamp node follows the node, and the next
// node follows the timestamp.
inline constexpr std::uint32_t kTimestampOverheadNs = 2 * kNodeLatencyNs;

// Like assign_lanes(), for nodes with `costs` (ns, by dependency node). O((nodes + edges) log
// nodes).
[[nodiscard]] LaneAssignment assign_lanes_by_cost(const DependencyGraph& dependencies,
                                                  std::uint32_t max_lanes,
                                                  std::span<const std::uint32_t> costs);

// The assignment and the estimated end of the last node (ns).
struct CostSchedule {
  LaneAssignment assignment;
  std::uint64_t makespan = 0;
};
[[nodiscard]] CostSchedule schedule_by_cost(const DependencyGraph& dependencies,
                                            std::uint32_t max_lanes,
                                            std::span<const std::uint32_t> costs);

// The smallest power of two, at most `max_lanes`, whose schedule is within a few per cent of the
// best one. Assumes doubled costs.
[[nodiscard]] std::uint32_t lanes_for_costs(const DependencyGraph& dependencies,
                                            std::uint32_t max_lanes,
                                            std::span<const std::uint32_t> costs);

// Longest path from the start of a node to the end of a leaf, by dependency node (ns, including
// latencies).
[[nodiscard]] std::vector<std::uint64_t> upward_ranks(const DependencyGraph& dependencies,
                                                      std::span<const std::uint32_t> costs);

}  // namespace reprise::detail

// The list schedule where it is known how long nodes take: whoever has the longest way to go starts
// first, and a lane goes on with what is ready. A pure function; knows no device, and costs only as
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "lowering/list_schedule.hpp"

namespace reprise::detail {

// What a GPU needs between the end of a node and the begin of one that waits for it, less where
// that is the next of its lane and waits for nothing else, and between the begins of any two.
// Measured: engine/README.md.
inline constexpr std::uint32_t kNodeLatencyNs = 1300;
inline constexpr std::uint32_t kLaneLatencyNs = 850;
inline constexpr std::uint32_t kNodeIssueNs = 180;

// As assign_lanes(), for nodes that take `costs` (ns, by schedule node). O((nodes + edges) log
// nodes).
[[nodiscard]] LaneAssignment assign_lanes_by_cost(const DependencyGraph& dependencies,
                                                  std::uint32_t max_lanes,
                                                  std::span<const std::uint32_t> costs);

// The same, and when the last node would end (ns).
struct CostedLanes {
  LaneAssignment assignment;
  std::uint64_t makespan = 0;
};
[[nodiscard]] CostedLanes schedule_by_cost(const DependencyGraph& dependencies,
                                           std::uint32_t max_lanes,
                                           std::span<const std::uint32_t> costs);

// The fewest lanes, a power of two of at most `most`, that end no later than any number of lanes
// could, a few per cent aside, even where nodes take twice as long as is said.
[[nodiscard]] std::uint32_t lanes_for_costs(const DependencyGraph& dependencies, std::uint32_t most,
                                            std::span<const std::uint32_t> costs);

// Longest way from a node's begin to the end of a leaf, by schedule node (ns, latencies included).
[[nodiscard]] std::vector<std::uint64_t> upward_ranks(const DependencyGraph& dependencies,
                                                      std::span<const std::uint32_t> costs);

}  // namespace reprise::detail

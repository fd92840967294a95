// lower_for_goal: the lowered graph and the placement that a MemoryGoal asks for. Tries fewer lanes
// and orders that keep few bytes alive, and places the transients of each; edges come from lanes
// alone. Knows no device. Threads: pure functions.
#pragma once

#include <chrono>
#include <cstdint>

#include <reprise/memory_goal.hpp>
#include <reprise/types.hpp>

#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "memory/placement.hpp"

namespace reprise::detail {

struct GoalDesc {
  MemoryGoal goal = MemoryGoal::Speed;
  Lowering lowering = Lowering::Auto;
  std::uint32_t alignment = 1;           // of transients
  std::chrono::nanoseconds budget = {};  // of place_transients(), for the graph that is taken
  NodeHints hints = {};  // of Speed's lowering; lanes for fewer bytes order whole commands, and
                         // need to know what they are
};

struct GoalResult {
  LoweredGraph lowered;
  Placement placement;
  MemoryTradeoff price;  // of Speed: only its goal
};

[[nodiscard]] MemoryTradeoff::Side side_of(const LoweredGraph& lowered, const Placement& placement);

// Throws InvalidArgument (Stage::Lanes) for another goal than Speed with Lowering::Faithful, and
// what build_lowered_graph() throws.
[[nodiscard]] GoalResult lower_for_goal(const Recording& recording,
                                        const DependencyGraph& dependencies, const GoalDesc& desc);

}  // namespace reprise::detail

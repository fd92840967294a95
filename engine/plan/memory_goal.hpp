// lower_for_goal: the lowered graph and the placement that a MemoryGoal asks for. Tries fewer lanes and orders that keep few bytes alive, and
// places the transients of each; edges come from lanes alone. Knows no device. Threads: pure functions.
#pragma once

#include <chrono>
#include <cstdint>

#include <reprise/memory_goal.hpp>
#include <reprise/types.hpp>

#include "lanes/lowered_graph.hpp"
#include "lanes/lowering_choice.hpp"
#include "memory/placement.hpp"

namespace reprise::detail {

struct GoalDesc {
  MemoryGoal goal = MemoryGoal::Speed;
  Lowering lowering = Lowering::Auto;
  std::uint32_t alignment = 1;           // of transients
  std::chrono::nanoseconds budget = {};  // of place_transients(), for the graph that is taken
  NodeHints hints = {};                  // of Speed's lowering; lanes for fewer bytes order whole commands, and need to know what they are
};

struct GoalResult {
  LoweredGraph lowered;
  Placement placement;
  MemoryPrice price;  // of Speed: only its goal
};

[[nodiscard]] MemoryPrice::Side side_of(const LoweredGraph& lowered, const Placement& placement);

// Throws InvalidArgument (Stage::Lanes) for another goal than Speed with Lowering::Faithful, and what build_lowered_graph() throws.
[[nodiscard]] GoalResult lower_for_goal(const Recording& recording, const Schedule& schedule, const GoalDesc& desc);

}  // namespace reprise::detail

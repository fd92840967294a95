// lower_for_goal: the lowered graph and the placement for a MemoryGoal. Tries 1, 2, 4 ... lanes, as
// Lowering::Lanes assigns them and in memory-aware orders, and places the transients of each
// candidate; added edges come from lanes only. Knows no device. Threads: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <reprise/memory_goal.hpp>
#include <reprise/message.hpp>
#include <reprise/types.hpp>

#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "memory/placement.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

struct GoalDesc {
  MemoryGoal goal = MemoryGoal::Speed;
  Lowering lowering = Lowering::Auto;
  std::uint32_t alignment = 1;           // bytes, of transients
  std::chrono::nanoseconds budget = {};  // for place_transients() of the chosen graph
  NodeHints hints = {};  // costs and starts apply to Speed only; `works` to every goal
};

struct GoalResult {
  LoweredGraph lowered;
  Placement placement;
  MemoryTradeoff memory_tradeoff;  // for Speed, only `goal` is set
};

[[nodiscard]] MemoryTradeoff::Side side_of(const LoweredGraph& lowered, const Placement& placement);

// Throws InvalidArgument (Stage::Lowering) for a goal other than Speed with Lowering::Faithful.
// Propagates errors of build_lowered_graph().
[[nodiscard]] GoalResult lower_for_goal(const Recording& recording,
                                        const DependencyGraph& dependencies, const GoalDesc& desc);

// The message "memory-goal" about a plan made for Speed: the bytes that the other goals would take.
// Empty if they save less than 1 MiB, and for graphs with more than 4,096 transients, because the
// search takes long.
[[nodiscard]] std::optional<Message> other_goals(const Plan& plan, Lowering lowering,
                                                 std::uint32_t alignment);

}  // namespace reprise::detail

// plan: everything that a backend needs, frozen: recording, needed edges, lowered graph,
// placements, hashes. Knows no device. Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/cost_profile.hpp>
#include <reprise/dot.hpp>
#include <reprise/memory_goal.hpp>

#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "plan/hash.hpp"
#include "plan/scalar_slots.hpp"

namespace reprise::detail {

struct Plan {
  std::string label;
  std::shared_ptr<const Recording> recording;
  DependencyGraph dependencies;
  LoweredGraph lowered;
  Placement placement;
  ScalarSlots slots;
  std::vector<std::shared_ptr<const Plan>>
      bodies;  // of recording->bodies; their transients lie in this plan's slab
  std::uint32_t all_nodes =
      0;  // of the lowered graph and of the bodies; numbered as plan/timing_layout.hpp says
  CostsReport costs;     // what was known of its nodes; `used` is said by the lowered graph
  MemoryTradeoff price;  // what its MemoryGoal gave up for bytes
  std::uint64_t plan_hash =
      0;  // of the recording and its needed edges: names, sizes, ranges, values; no addresses
  std::uint64_t lowering_hash = 0;  // of lowered graph and placements

  // Of a lowered node; kNone for one of the frame.
  [[nodiscard]] std::uint32_t command_of(std::uint32_t node) const noexcept {
    const std::uint32_t of_schedule = lowered.nodes[node].dependency_node;
    return of_schedule == kNone ? kNone : dependencies.node_command[of_schedule];
  }
};

// What a plan has of its recording alone, so that it can be made beside the stages.
struct RecordedParts {
  Hash64 hash;
  ScalarSlots slots;
};
// Throws what collect_scalar_slots() throws.
[[nodiscard]] RecordedParts recorded_parts(const Recording& recording,
                                           std::span<const std::shared_ptr<const Plan>> bodies);

// What the stages gave.
struct PlanParts {
  std::string label;
  std::shared_ptr<const Recording> recording;
  DependencyGraph dependencies;
  LoweredGraph lowered;
  Placement placement;
  std::vector<std::shared_ptr<const Plan>> bodies;
};
// `schedule_hash`: what hash_dependencies() gives of `recorded` and the schedule.
[[nodiscard]] Plan freeze_plan(PlanParts parts, RecordedParts recorded,
                               std::uint64_t schedule_hash);
// Throws what collect_scalar_slots() throws.
[[nodiscard]] Plan freeze_plan(std::string label, std::shared_ptr<const Recording> recording,
                               DependencyGraph dependencies, LoweredGraph lowered,
                               Placement placement,
                               std::vector<std::shared_ptr<const Plan>> bodies = {});

// Stable text: the same recording gives the same text on every run and machine.
[[nodiscard]] std::string to_text(const Plan& plan);
[[nodiscard]] std::string to_dot(const Plan& plan, const DotOptions& options);

}  // namespace reprise::detail

// plan: the frozen input of a backend: recording, needed edges, lowered graph, placements and
// hashes. Knows no device. Threads: immutable.
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
  // Plans of recording->bodies. Their transients are placed in this plan's slab.
  std::vector<std::shared_ptr<const Plan>> bodies;
  std::uint32_t total_nodes = 0;   // including the bodies; numbered by plan/timing_layout.hpp
  CostsReport costs;               // `used` is unset; see lowered.by_cost
  MemoryTradeoff memory_tradeoff;  // speed traded for memory by the MemoryGoal
  // Covers the recording and its needed edges: names, sizes, ranges, values; no addresses.
  std::uint64_t plan_hash = 0;
  std::uint64_t lowering_hash = 0;  // covers the lowered graph and the placements

  // The command of a lowered node; kNone for entry and exit nodes.
  [[nodiscard]] std::uint32_t command_of(std::uint32_t node) const noexcept {
    const std::uint32_t dependency_node = lowered.nodes[node].dependency_node;
    return dependency_node == kNone ? kNone : dependencies.node_command[dependency_node];
  }
};

// The parts of a plan that depend only on its recording; computed in parallel with the stages.
struct RecordedParts {
  Hash64 hash;
  ScalarSlots slots;
};
// Throws what collect_scalar_slots() throws.
[[nodiscard]] RecordedParts recorded_parts(const Recording& recording,
                                           std::span<const std::shared_ptr<const Plan>> bodies);

// The results of the stages.
struct PlanParts {
  std::string label;
  std::shared_ptr<const Recording> recording;
  DependencyGraph dependencies;
  LoweredGraph lowered;
  Placement placement;
  std::vector<std::shared_ptr<const Plan>> bodies;
};
// `dependencies_hash`: hash_dependencies() of `recorded` and the dependency graph.
[[nodiscard]] Plan freeze_plan(PlanParts parts, RecordedParts recorded,
                               std::uint64_t dependencies_hash);
// Throws what collect_scalar_slots() throws.
[[nodiscard]] Plan freeze_plan(std::string label, std::shared_ptr<const Recording> recording,
                               DependencyGraph dependencies, LoweredGraph lowered,
                               Placement placement,
                               std::vector<std::shared_ptr<const Plan>> bodies = {});

// Stable text: identical for the same recording across runs and platforms.
[[nodiscard]] std::string to_text(const Plan& plan);
[[nodiscard]] std::string to_dot(const Plan& plan, DotFlags flags);

}  // namespace reprise::detail

#include "plan/plan.hpp"

#include <utility>

#include "plan/plan_hash.hpp"

namespace reprise::detail {

RecordedParts recorded_parts(const Recording& recording,
                             std::span<const std::shared_ptr<const Plan>> bodies) {
  std::vector<const ScalarSlots*> body_slots;
  for (const auto& body : bodies) body_slots.push_back(&body->slots);
  return {hash_recording(recording), collect_scalar_slots(recording, body_slots)};
}

Plan freeze_plan(PlanParts parts, RecordedParts recorded, std::uint64_t dependencies_hash) {
  Plan plan;
  plan.plan_hash = dependencies_hash;
  plan.lowering_hash = hash_lowering(parts.lowered, parts.placement);
  plan.slots = std::move(recorded.slots);
  plan.total_nodes = static_cast<std::uint32_t>(parts.lowered.nodes.size());
  for (const auto& body : parts.bodies) {
    plan.plan_hash = hash_pair(plan.plan_hash, body->plan_hash);
    plan.lowering_hash = hash_pair(plan.lowering_hash, body->lowering_hash);
    plan.total_nodes += body->total_nodes;
  }
  plan.bodies = std::move(parts.bodies);
  plan.label = std::move(parts.label);
  plan.recording = std::move(parts.recording);
  plan.dependencies = std::move(parts.dependencies);
  plan.lowered = std::move(parts.lowered);
  plan.placement = std::move(parts.placement);
  return plan;
}

Plan freeze_plan(std::string label, std::shared_ptr<const Recording> recording,
                 DependencyGraph dependencies, LoweredGraph lowered, Placement placement,
                 std::vector<std::shared_ptr<const Plan>> bodies) {
  RecordedParts recorded = recorded_parts(*recording, bodies);
  const std::uint64_t hash = hash_dependencies(recorded.hash, dependencies);
  return freeze_plan({std::move(label), std::move(recording), std::move(dependencies),
                      std::move(lowered), std::move(placement), std::move(bodies)},
                     std::move(recorded), hash);
}

}  // namespace reprise::detail

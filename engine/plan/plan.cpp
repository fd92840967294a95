#include "plan/plan.hpp"

#include <utility>

#include "plan/plan_hash.hpp"

namespace reprise::detail {

Plan freeze_plan(std::string label, std::shared_ptr<const Recording> recording, Schedule schedule, LoweredGraph lowered,
                 Placement placement, std::vector<std::shared_ptr<const Plan>> bodies) {
  Plan plan;
  plan.plan_hash = hash_recording(*recording, schedule);
  plan.lowering_hash = hash_lowering(lowered, placement);
  std::vector<const ScalarSlots*> slots_of_bodies;
  for (const auto& body : bodies) slots_of_bodies.push_back(&body->slots);
  plan.slots = collect_scalar_slots(*recording, slots_of_bodies);
  plan.all_nodes = static_cast<std::uint32_t>(lowered.nodes.size());
  for (const auto& body : bodies) {
    plan.plan_hash = hash_pair(plan.plan_hash, body->plan_hash);
    plan.lowering_hash = hash_pair(plan.lowering_hash, body->lowering_hash);
    plan.all_nodes += body->all_nodes;
  }
  plan.bodies = std::move(bodies);
  plan.label = std::move(label);
  plan.recording = std::move(recording);
  plan.schedule = std::move(schedule);
  plan.lowered = std::move(lowered);
  plan.placement = std::move(placement);
  return plan;
}

}  // namespace reprise::detail

#include "run/near_plan.hpp"

#include <algorithm>
#include <unordered_map>

#include "memory/transient_uses.hpp"
#include "schedule/reschedule.hpp"

namespace reprise::detail {

namespace {

// Where commands have fewer edges, looking for what is different takes as long as ordering all of them.
constexpr std::size_t kEdgesOfACommand = 2;

bool is_worth_it(const Schedule& schedule) { return schedule.edges.size() + schedule.implied.size() >= kEdgesOfACommand * schedule.node_count(); }

}  // namespace

Schedule schedule_near(const Recording& recording, const Plan* before) {
  if (before != nullptr && is_worth_it(before->schedule)) {
    if (std::optional<Schedule> schedule = reschedule(recording, *before->recording, before->schedule)) return std::move(*schedule);
  }
  return build_schedule(recording);
}

bool same_structure(const Schedule& a, const Schedule& b) {
  return a.is_join == b.is_join && a.first_edge == b.first_edge &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(), [](const Edge& x, const Edge& y) { return x.from == y.from; });
}

std::optional<Placement> placement_near(const Recording& recording, const Schedule& schedule, const Plan& before, std::uint32_t alignment) {
  const TransientUses now = collect_transient_uses(recording, schedule, before.lowered, alignment);
  const TransientUses then = collect_transient_uses(*before.recording, before.schedule, before.lowered, alignment);
  const auto same = [](const Transient& a, const Transient& b) {
    return a.bytes == b.bytes && a.first_use == b.first_use && a.use_count == b.use_count;
  };
  const bool is_same = now.nodes == then.nodes && now.by_first_use == then.by_first_use &&
                       std::equal(now.transients.begin(), now.transients.end(), then.transients.begin(), then.transients.end(), same);
  if (!is_same || before.placement.buffers.size() != now.transients.size()) return std::nullopt;
  Placement placement = before.placement;
  for (std::size_t i = 0; i < placement.buffers.size(); ++i) {
    placement.buffers[i].buffer = now.transients[i].buffer;
    placement.buffers[i].bytes = recording.buffers[now.transients[i].buffer]->bytes;
  }
  return placement;
}

std::vector<std::shared_ptr<const Plan>> bodies_near(const Recording& recording, const Plan* before) {
  std::vector<std::shared_ptr<const Plan>> bodies(recording.bodies.size());
  if (before == nullptr || before->bodies.size() != before->recording->bodies.size()) return bodies;
  std::unordered_map<const Recording*, std::size_t> known;
  for (std::size_t i = 0; i < before->bodies.size(); ++i) known.emplace(before->recording->bodies[i].get(), i);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (const auto found = known.find(recording.bodies[i].get()); found != known.end()) bodies[i] = before->bodies[found->second];
  }
  return bodies;
}

}  // namespace reprise::detail

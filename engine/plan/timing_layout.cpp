#include "plan/timing_layout.hpp"

#include <algorithm>
#include <limits>

#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

// A body with what it runs, and how many rounds of it one replay may have.
struct Found {
  BodyPlace place;
  const Plan* plan = nullptr;
  std::uint64_t most = 1;
};

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kEndless / b ? kEndless : a * b;
}

BodyPlace::Kind kind_of(const Recording& recording, std::uint32_t command, std::uint32_t branch) {
  if (recording.commands[command].kind != CommandKind::Conditional) return BodyPlace::Kind::Nested;
  switch (recording.payload<ConditionalPayload>(command).branch) {
    case Branch::If: return branch == 0 ? BodyPlace::Kind::Then : BodyPlace::Kind::Else;
    case Branch::While: return BodyPlace::Kind::Loop;
    case Branch::Switch: break;
  }
  return BodyPlace::Kind::Case;
}

std::vector<Found> find_bodies(const Plan& plan) {
  std::vector<Found> found;
  auto next_node = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  const auto look_into = [&](const Plan& in, std::uint32_t owner, std::uint32_t first_node,
                             std::uint64_t most) {
    const Recording& recording = *in.recording;
    for (std::uint32_t node = 0; !in.bodies.empty() && node < in.lowered.nodes.size(); ++node) {
      const std::uint32_t of_schedule = in.lowered.nodes[node].dependency_node;
      if (of_schedule == kNone) continue;
      const std::uint32_t command = in.dependencies.node_command[of_schedule];
      const auto bodies = bodies_of(recording.commands[command]);
      for (std::uint32_t branch = 0; branch < bodies.size(); ++branch) {
        Found one;
        one.plan = in.bodies[bodies[branch].index].get();
        one.place.kind = kind_of(recording, command, branch);
        one.place.owner = owner;
        one.place.parent = first_node + node;
        one.place.branch = branch;
        one.place.first_node = next_node;
        one.place.nodes = static_cast<std::uint32_t>(one.plan->lowered.nodes.size());
        next_node += one.place.nodes;
        one.most = most;
        if (one.place.kind == BodyPlace::Kind::Loop) {
          const std::uint64_t limit = recording.payload<ConditionalPayload>(command).max_iterations;
          one.most = times(most, limit == 0 ? kEndless : limit);
        }
        found.push_back(one);
      }
    }
  };
  look_into(plan, kNone, 0, 1);
  for (std::uint32_t body = 0; body < found.size(); ++body) {
    const Found of = found[body];
    look_into(*of.plan, body, of.place.first_node, of.most);
  }
  return found;
}

}  // namespace

bool TimingLayout::has_same_nodes(const TimingLayout& other) const noexcept {
  return own_nodes == other.own_nodes &&
         std::equal(bodies.begin(), bodies.end(), other.bodies.begin(), other.bodies.end(),
                    [](const BodyPlace& a, const BodyPlace& b) {
                      return a.kind == b.kind && a.parent == b.parent && a.branch == b.branch &&
                             a.nodes == b.nodes;
                    });
}

std::uint32_t TimingLayout::first_body(std::uint32_t parent) const noexcept {
  const auto at = std::lower_bound(
      bodies.begin(), bodies.end(), parent,
      [](const BodyPlace& body, std::uint32_t node) { return body.parent < node; });
  return static_cast<std::uint32_t>(at - bodies.begin());
}

std::uint32_t TimingLayout::body_of(std::uint32_t node) const noexcept {
  if (node < own_nodes) return kNone;
  const auto behind =
      std::upper_bound(bodies.begin(), bodies.end(), node,
                       [](std::uint32_t n, const BodyPlace& body) { return n < body.first_node; });
  return static_cast<std::uint32_t>(behind - bodies.begin()) - 1;
}

std::uint32_t TimingLayout::own_node_of(std::uint32_t node) const noexcept {
  while (node >= own_nodes) node = bodies[body_of(node)].parent;
  return node;
}

TimingLayout timing_layout(const Plan& plan) {
  TimingLayout made;
  made.nodes = made.own_nodes = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  made.slots = made.own_nodes;
  const std::vector<Found> found = find_bodies(plan);
  std::uint64_t in_loops = 0;
  for (const Found& one : found) in_loops += one.most > 1 ? one.place.nodes : 0;
  const std::uint64_t room =
      std::clamp<std::uint64_t>(TimingLayout::kMostSlots / std::max<std::uint64_t>(1, in_loops), 1,
                                TimingLayout::kMostRounds);
  made.bodies.reserve(found.size());
  for (const Found& one : found) {
    BodyPlace place = one.place;
    place.kept = static_cast<std::uint32_t>(std::min(one.most, room));
    place.first_slot = static_cast<std::uint32_t>(made.slots);
    made.slots += 1 + std::size_t{place.kept} * place.nodes;
    made.nodes += place.nodes;
    made.bodies.push_back(place);
  }
  return made;
}

std::vector<const Plan*> plans_of_bodies(const Plan& plan) {
  std::vector<const Plan*> plans;
  for (const Found& one : find_bodies(plan)) plans.push_back(one.plan);
  return plans;
}

}  // namespace reprise::detail

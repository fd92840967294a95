#include "plan/timing_layout.hpp"

#include <algorithm>
#include <limits>

#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// A body, its plan, and the maximum number of its iterations in one replay.
struct BodyEntry {
  BodyLayout body_layout;
  const Plan* plan = nullptr;
  std::uint64_t max_iterations = 1;
};

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kUnlimited / b ? kUnlimited : a * b;
}

BodyLayout::Kind kind_of(const Recording& recording, std::uint32_t command, std::uint32_t branch) {
  if (recording.commands[command].kind != CommandKind::Conditional) return BodyLayout::Kind::Nested;
  switch (recording.payload<ConditionalPayload>(command).branch) {
    case Branch::If: return branch == 0 ? BodyLayout::Kind::Then : BodyLayout::Kind::Else;
    case Branch::While: return BodyLayout::Kind::Loop;
    case Branch::Switch: break;
  }
  return BodyLayout::Kind::Case;
}

std::vector<BodyEntry> find_bodies(const Plan& plan) {
  std::vector<BodyEntry> found;
  auto next_node = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  const auto collect_bodies = [&](const Plan& in, std::uint32_t owner, std::uint32_t first_node,
                                  std::uint64_t max_iterations) {
    const Recording& recording = *in.recording;
    for (std::uint32_t node = 0; !in.bodies.empty() && node < in.lowered.nodes.size(); ++node) {
      const std::uint32_t dependency_node = in.lowered.nodes[node].dependency_node;
      if (dependency_node == kNone) continue;
      const std::uint32_t command = in.dependencies.node_command[dependency_node];
      const auto bodies = bodies_of(recording.commands[command]);
      for (std::uint32_t branch = 0; branch < bodies.size(); ++branch) {
        BodyEntry entry;
        entry.plan = in.bodies[bodies[branch].index].get();
        entry.body_layout.kind = kind_of(recording, command, branch);
        entry.body_layout.owner = owner;
        entry.body_layout.parent = first_node + node;
        entry.body_layout.branch = branch;
        entry.body_layout.first_node = next_node;
        entry.body_layout.nodes = static_cast<std::uint32_t>(entry.plan->lowered.nodes.size());
        next_node += entry.body_layout.nodes;
        entry.max_iterations = max_iterations;
        if (entry.body_layout.kind == BodyLayout::Kind::Loop) {
          const std::uint64_t limit = recording.payload<ConditionalPayload>(command).max_iterations;
          entry.max_iterations =
              saturating_multiply(max_iterations, limit == 0 ? kUnlimited : limit);
        }
        found.push_back(entry);
      }
    }
  };
  collect_bodies(plan, kNone, 0, 1);
  for (std::uint32_t body = 0; body < found.size(); ++body) {
    const BodyEntry outer = found[body];
    collect_bodies(*outer.plan, body, outer.body_layout.first_node, outer.max_iterations);
  }
  return found;
}

}  // namespace

bool TimingLayout::has_same_nodes(const TimingLayout& other) const noexcept {
  return own_nodes == other.own_nodes &&
         std::equal(bodies.begin(), bodies.end(), other.bodies.begin(), other.bodies.end(),
                    [](const BodyLayout& a, const BodyLayout& b) {
                      return a.kind == b.kind && a.parent == b.parent && a.branch == b.branch &&
                             a.nodes == b.nodes;
                    });
}

std::uint32_t TimingLayout::first_body(std::uint32_t parent) const noexcept {
  const auto first = std::lower_bound(
      bodies.begin(), bodies.end(), parent,
      [](const BodyLayout& body, std::uint32_t node) { return body.parent < node; });
  return static_cast<std::uint32_t>(first - bodies.begin());
}

std::uint32_t TimingLayout::body_of(std::uint32_t node) const noexcept {
  if (node < own_nodes) return kNone;
  const auto next =
      std::upper_bound(bodies.begin(), bodies.end(), node,
                       [](std::uint32_t n, const BodyLayout& body) { return n < body.first_node; });
  return static_cast<std::uint32_t>(next - bodies.begin()) - 1;
}

std::uint32_t TimingLayout::own_node_of(std::uint32_t node) const noexcept {
  while (node >= own_nodes) node = bodies[body_of(node)].parent;
  return node;
}

TimingLayout timing_layout(const Plan& plan) {
  TimingLayout layout;
  layout.nodes = layout.own_nodes = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  layout.slots = layout.own_nodes;
  const std::vector<BodyEntry> found = find_bodies(plan);
  std::uint64_t in_loops = 0;
  for (const BodyEntry& entry : found)
    in_loops += entry.max_iterations > 1 ? entry.body_layout.nodes : 0;
  const std::uint64_t iterations =
      std::clamp<std::uint64_t>(TimingLayout::kMaxSlots / std::max<std::uint64_t>(1, in_loops), 1,
                                TimingLayout::kMaxIterations);
  layout.bodies.reserve(found.size());
  for (const BodyEntry& entry : found) {
    BodyLayout body_layout = entry.body_layout;
    body_layout.kept = static_cast<std::uint32_t>(std::min(entry.max_iterations, iterations));
    body_layout.first_slot = static_cast<std::uint32_t>(layout.slots);
    layout.slots += 1 + std::size_t{body_layout.kept} * body_layout.nodes;
    layout.nodes += body_layout.nodes;
    layout.bodies.push_back(body_layout);
  }
  return layout;
}

std::vector<const Plan*> body_plans(const Plan& plan) {
  std::vector<const Plan*> plans;
  for (const BodyEntry& entry : find_bodies(plan)) plans.push_back(entry.plan);
  return plans;
}

}  // namespace reprise::detail

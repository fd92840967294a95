#include "plan/plan_difference.hpp"

#include <algorithm>
#include <vector>

#include "record/payload.hpp"

namespace reprise::detail {
namespace {

using Outcome = GraphExecUpdateOutcome;

// Commands of one class use the same native node type.
enum class NodeClass : std::uint8_t { Kernel, Copy, Fill, Host, Child, Conditional, Empty };

NodeClass class_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::Dispatch: return NodeClass::Kernel;
    case CommandKind::Copy:
    case CommandKind::Update: return NodeClass::Copy;
    case CommandKind::Fill: return NodeClass::Fill;
    case CommandKind::Host: return NodeClass::Host;
    case CommandKind::Op:
    case CommandKind::Nested: return NodeClass::Child;
    case CommandKind::Conditional: return NodeClass::Conditional;
    case CommandKind::Barrier: return NodeClass::Empty;
  }
  return NodeClass::Empty;
}

// The properties of a copy that an update cannot change: the kinds of memory and, for pitched
// copies, the shape.
struct CopySignature {
  bool from_host = false, to_host = false;
  Extent extent;
  Pitch source, destination;

  [[nodiscard]] bool is_pitched() const { return extent.height != 1 || extent.depth != 1; }
};

bool is_host(const Recording& recording, const Endpoint& side) {
  return side.buffer == kNone || recording.buffers[side.buffer]->kind == BufferKind::PinnedHost;
}

CopySignature copy_signature(const Recording& recording, std::uint32_t command) {
  if (recording.commands[command].kind == CommandKind::Update) {
    const auto& update = recording.payload<UpdatePayload>(command);
    return {true,
            recording.buffers[update.buffer]->kind == BufferKind::PinnedHost,
            {update.bytes, 1, 1},
            {},
            {}};
  }
  const auto& copy = recording.payload<CopyPayload>(command);
  return {is_host(recording, copy.source), is_host(recording, copy.destination), copy.extent,
          copy.source_pitch, copy.destination_pitch};
}

Outcome compare_copies(const CopySignature& a, const CopySignature& b) {
  if (a.from_host != b.from_host || a.to_host != b.to_host) return Outcome::ParametersChanged;
  if (!a.is_pitched() && !b.is_pitched()) return Outcome::Success;
  const bool is_same =
      a.extent == b.extent && a.source == b.source && a.destination == b.destination;
  return is_same ? Outcome::Success : Outcome::ParametersChanged;
}

Outcome compare_commands(const Recording& before, std::uint32_t old_command, const Recording& after,
                         std::uint32_t command) {
  const NodeClass node_class = class_of(after.commands[command].kind);
  if (class_of(before.commands[old_command].kind) != node_class) return Outcome::NodeTypeChanged;
  switch (node_class) {
    case NodeClass::Kernel: {
      const auto& a = before.payload<DispatchPayload>(old_command);
      const auto& b = after.payload<DispatchPayload>(command);
      return a.launch == b.launch && a.cluster == b.cluster ? Outcome::Success
                                                            : Outcome::AttributesChanged;
    }
    case NodeClass::Copy:
      return compare_copies(copy_signature(before, old_command), copy_signature(after, command));
    case NodeClass::Fill: {
      const auto& a = before.payload<FillPayload>(old_command);
      const auto& b = after.payload<FillPayload>(command);
      if (a.extent.height == 1 && b.extent.height == 1) return Outcome::Success;
      const bool is_same =
          a.extent == b.extent && a.pitch == b.pitch && a.element_bytes == b.element_bytes;
      return is_same ? Outcome::Success : Outcome::ParametersChanged;
    }
    case NodeClass::Host:
    case NodeClass::Child:
    case NodeClass::Conditional:
    case NodeClass::Empty: return Outcome::Success;
  }
  return Outcome::Success;
}

// A plan and, by buffer, the index of each condition in the outermost recording; kNone for other
// buffers.
struct Side {
  const Plan& plan;
  std::vector<std::uint32_t> condition;

  [[nodiscard]] Side body_side(const Body& body) const {
    Side side{*plan.bodies[body.index], {}};
    for (std::uint32_t i = 0; i < body.buffer_count; ++i)
      side.condition.push_back(condition[body.buffers[i]]);
    return side;
  }
};

Side outermost(const Plan& plan) {
  Side side{plan, {}};
  std::uint32_t count = 0;
  for (const auto& buffer : plan.recording->buffers)
    side.condition.push_back(buffer->kind == BufferKind::Condition ? count++ : kNone);
  return side;
}

PlanDifference find_difference(const Side& before, const Side& after);

// Compares the bodies of two commands of one class. Their count, their nodes and edges, and the
// condition must match.
Outcome compare_bodies(const Side& before, std::uint32_t old_command, const Side& after,
                       std::uint32_t command) {
  const Recording &a = *before.plan.recording, &b = *after.plan.recording;
  const auto old_bodies = bodies_of(a.commands[old_command]),
             bodies = bodies_of(b.commands[command]);
  if (old_bodies.empty() && bodies.empty()) return Outcome::Success;
  if (b.commands[command].kind == CommandKind::Conditional) {
    const auto &x = a.payload<ConditionalPayload>(old_command),
               &y = b.payload<ConditionalPayload>(command);
    if (x.branch != y.branch || x.body_count != y.body_count ||
        before.condition[x.condition] != after.condition[y.condition])
      return Outcome::NotSupported;
    if ((x.max_iterations == 0) != (y.max_iterations == 0))
      return Outcome::TopologyChanged;  // the loop counter adds a node
  }
  if (old_bodies.size() != bodies.size()) return Outcome::TopologyChanged;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const PlanDifference difference =
        find_difference(before.body_side(old_bodies[i]), after.body_side(bodies[i]));
    if (difference.outcome != Outcome::Success) return difference.outcome;
  }
  return Outcome::Success;
}

PlanDifference find_difference(const Side& before_side, const Side& after_side) {
  const Plan &before = before_side.plan, &after = after_side.plan;
  const LoweredGraph &a = before.lowered, &b = after.lowered;
  if (a.nodes.size() != b.nodes.size() || a.edges.size() != b.edges.size())
    return {Outcome::TopologyChanged, kNone, kNone};
  for (std::uint32_t node = 0; node < b.nodes.size(); ++node) {
    const auto old_edges = a.edges_into(node), edges = b.edges_into(node);
    const auto [at, other] = std::mismatch(
        edges.begin(), edges.end(), old_edges.begin(), old_edges.end(),
        [](const auto& x, const auto& y) { return x.from == y.from && x.strength == y.strength; });
    if (at != edges.end()) return {Outcome::TopologyChanged, node, at->from};
    if (other != old_edges.end()) return {Outcome::TopologyChanged, node, kNone};
    if (a.nodes[node].kind != b.nodes[node].kind) return {Outcome::NodeTypeChanged, node, kNone};
    if (b.nodes[node].kind != LoweredKind::Work) continue;
    const std::uint32_t old_command = before.command_of(node), command = after.command_of(node);
    Outcome outcome = compare_commands(*before.recording, old_command, *after.recording, command);
    if (outcome == Outcome::Success)
      outcome = compare_bodies(before_side, old_command, after_side, command);
    if (outcome != Outcome::Success) return {outcome, node, kNone};
  }
  return {};
}

}  // namespace

PlanDifference find_difference(const Plan& before, const Plan& after) {
  if (before.bodies.empty() && after.bodies.empty())
    return find_difference(Side{before, {}}, Side{after, {}});
  return find_difference(outermost(before), outermost(after));
}

}  // namespace reprise::detail

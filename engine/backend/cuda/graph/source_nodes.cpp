#include "backend/cuda/graph/source_nodes.hpp"

#include <algorithm>

#include "record/payload.hpp"

namespace reprise::detail {
namespace {

// Nodes get attributes and condition handles only at creation.
bool is_plain(const Recording& recording, const DispatchPayload& dispatch) {
  return dispatch.launch == DispatchDesc::Launch::Normal && !dispatch.cluster &&
         std::none_of(dispatch.buffer_arguments,
                      dispatch.buffer_arguments + dispatch.buffer_argument_count,
                      [&](const BufferArgument& argument) {
                        return recording.buffers[argument.buffer]->kind == BufferKind::Condition;
                      });
}

bool can_be_set(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch:
      return is_plain(recording, recording.payload<DispatchPayload>(command));
    case CommandKind::Copy:
    case CommandKind::Fill:
    case CommandKind::Update:
    case CommandKind::Host:
    case CommandKind::Barrier: return true;
    case CommandKind::Op:
    case CommandKind::Nested:
    case CommandKind::Conditional: return false;
  }
  return false;
}

// True if parameters of the node or of its bodies point to resources of a single plan. Plans share
// the bytes of pitched copies that do not change.
bool is_plan_specific(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Update:
    case CommandKind::Host: return true;
    case CommandKind::Copy: {
      const auto& copy = recording.payload<CopyPayload>(command);
      return copy.source.is_snapshot() && !copy.is_pitched();
    }
    case CommandKind::Nested:
    case CommandKind::Conditional: {
      const auto bodies = bodies_of(recording.commands[command]);
      return std::any_of(bodies.begin(), bodies.end(), [&](const Body& body) {
        const Recording& inside = *recording.bodies[body.index];
        for (std::uint32_t i = 0; i < inside.commands.size(); ++i)
          if (is_plan_specific(inside, i)) return true;
        return false;
      });
    }
    case CommandKind::Dispatch:
    case CommandKind::Fill:
    case CommandKind::Op:
    case CommandKind::Barrier: return false;
  }
  return false;
}

// CUDA 13.0 refuses a graph with such a copy even if nothing differs (ParametersChanged).
bool is_refused_in_graphs(const Recording& recording, std::uint32_t command) {
  const Command& of = recording.commands[command];
  if (of.kind == CommandKind::Copy) {
    const auto& copy = recording.payload<CopyPayload>(command);
    return copy.is_pitched() && (copy.source.is_borrowed() || copy.destination.is_borrowed());
  }
  const auto bodies = bodies_of(of);
  return std::any_of(bodies.begin(), bodies.end(), [&](const Body& body) {
    return has_copies_refused_in_graphs(*recording.bodies[body.index]);
  });
}

}  // namespace

bool has_copies_refused_in_graphs(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i)
    if (is_refused_in_graphs(recording, i)) return true;
  return false;
}

std::optional<std::vector<std::uint32_t>> nodes_to_set(const PlanChange& change) {
  if (!change.nodes) return std::nullopt;
  const Recording& recording = *change.plan->recording;
  std::vector<std::uint32_t> nodes;
  auto different = change.nodes->begin();
  for (std::uint32_t node = 0; node < change.plan->lowered.nodes.size(); ++node) {
    const bool is_different = different != change.nodes->end() && *different == node;
    if (is_different) ++different;
    const std::uint32_t command = change.plan->command_of(node);
    if (command == kNone || !(is_different || is_plan_specific(recording, command))) continue;
    if (!bodies_of(recording.commands[command]).empty()) return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

std::optional<std::vector<std::uint32_t>> SourceNodes::nodes_to_update(
    const PlanChange& change) const {
  if (!change.nodes || change.plan->lowered.nodes.size() != differs_.size()) return std::nullopt;
  const Recording& recording = *change.plan->recording;
  std::vector<std::uint32_t> nodes;
  nodes.reserve(change.nodes->size());
  auto different = change.nodes->begin();
  for (std::uint32_t node = 0; node < differs_.size(); ++node) {
    const bool is_different = different != change.nodes->end() && *different == node;
    if (is_different) ++different;
    const std::uint32_t command = change.plan->command_of(node);
    if (command == kNone) continue;
    if (!bodies_of(recording.commands[command]).empty()) return std::nullopt;
    if (!(is_different || differs_[node] != 0 || is_plan_specific(recording, command))) continue;
    if (!can_be_set(recording, command)) return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace reprise::detail

#include "backend/cuda/source_nodes.hpp"

#include <algorithm>

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

// True if the node's parameters point to resources of a single plan.
bool is_plan_specific(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Update:
    case CommandKind::Host: return true;
    case CommandKind::Copy: {
      const Endpoint& source = recording.payload<CopyPayload>(command).source;
      return source.buffer == kNone && source.lifetime == HostBytes::Lifetime::Snapshot;
    }
    case CommandKind::Dispatch:
    case CommandKind::Fill:
    case CommandKind::Op:
    case CommandKind::Barrier:
    case CommandKind::Nested:
    case CommandKind::Conditional: return false;
  }
  return false;
}

}  // namespace

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
    if (command == kNone ||
        !(is_different || differs_[node] != 0 || is_plan_specific(recording, command)))
      continue;
    const bool has_priority = change.plan->lowered.nodes[node].priority != 0;  // a node attribute
    if (has_priority || !can_be_set(recording, command)) return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace reprise::detail

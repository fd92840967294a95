// Scalar slots, and enabling and disabling of commands: changes of single nodes that need no
// memory.
#include <algorithm>
#include <cstring>

#include <reprise/error.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/timing_layout.hpp"
#include "runtime/graph/graph_update.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void fail_change(const ExecUpdate& refused, std::string_view label,
                              const std::string& action) {
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = Stage::Launch;
  details.label = label;
  details.native_call = "update of a node";
  details.native_code = refused.native_code;
  details.native_name = refused.native_name;
  throw Error(std::move(details),
              concat(action, " of graph ", label, " failed: ", to_string(refused.outcome),
                     refused.native_name.empty() ? "" : ", ", refused.native_name));
}

bool can_be_disabled(CommandKind kind) {
  switch (kind) {
    case CommandKind::Dispatch:
    case CommandKind::Copy:
    case CommandKind::Fill:
    case CommandKind::Update: return true;
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Barrier:
    case CommandKind::Nested:
    case CommandKind::Conditional: return false;
  }
  return false;
}

// A command of a graph's recording or of its bodies, in which it may have several copies.
struct FoundCommand {
  const Recording* recording = nullptr;  // null: in none of them
  std::uint32_t index = 0;               // of the first copy
  std::vector<std::uint32_t> nodes =
      {};  // by number; empty for a barrier that was lowered to edges
};

FoundCommand find_command(const Plan& plan, BindingState& state, const CommandRef& command) {
  FoundCommand found;
  const auto add = [&](const Recording& recording, std::uint32_t index) {
    if (found.recording == nullptr) {
      found.recording = &recording;
      found.index = index;
    }
  };
  plan.recording->for_each_command(command, [&](std::uint32_t index) {
    add(*plan.recording, index);
    if (const std::uint32_t node = state.node_of_command(index); node != kNone)
      found.nodes.push_back(node);
  });
  std::sort(found.nodes.begin(), found.nodes.end());
  if (plan.bodies.empty()) return found;
  const auto find_in = [&](const Plan& in, std::uint32_t first_node) {
    in.recording->for_each_command(command, [&](std::uint32_t index) {
      add(*in.recording, index);
      for (std::uint32_t node = 0; node < in.lowered.nodes.size(); ++node) {
        if (in.command_of(node) == index) found.nodes.push_back(first_node + node);
      }
    });
  };
  const TimingLayout layout = timing_layout(plan);
  const std::vector<const Plan*> plans = body_plans(plan);
  for (std::size_t body = 0; body < plans.size(); ++body)
    find_in(*plans[body], layout.bodies[body].first_node);
  return found;
}

// Throws InvalidArgument if the graph does not contain the command.
FoundCommand require_command(const GraphReplica::Edit& edit, const CommandRef& command,
                             std::string_view verb, std::string_view label) {
  GraphExecutable& executable = edit.executable();
  FoundCommand found = find_command(*executable.plan(), executable.bindings, command);
  if (found.recording == nullptr) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label,
         concat(verb, ": neither the current recording of graph ", label,
                " nor a body that it runs contains the command; pass a CommandRef of the command "
                "buffer that the graph was compiled from or last updated to, or of a secondary "
                "that this one executes"));
  }
  return found;
}

}  // namespace

std::uint32_t find_scalar(GraphReplica& replica, std::string_view name) {
  const GraphReplica::Edit edit(replica);
  return edit.scalars().find(name, edit.executable().plan()->slots, replica.label());
}

void check_scalar(GraphReplica& replica, std::uint32_t scalar, const ValueType& type) {
  const GraphReplica::Edit edit(replica);
  const ScalarTable::Entry& entry = edit.scalars()[scalar];
  if (*entry.type == type) return;
  fail(ErrorCode::ArgumentType, Stage::Launch, replica.label(),
       concat("scalar slot \"", entry.name, "\" of graph ", replica.label(), " holds ",
              entry.type->name, ", not ", type.name));
}

std::uint32_t set_scalar(GraphReplica& replica, std::uint32_t scalar, const void* value) {
  const GraphReplica::Edit edit(replica);
  replica.require_updatable("set");
  const ScalarTable::Entry& entry = edit.scalars()[scalar];
  if (entry.slot == kNone) {
    fail(ErrorCode::InvalidState, Stage::Launch, replica.label(),
         concat("graph ", replica.label(), " has no scalar slot \"", entry.name, "\" of ",
                entry.type->size, " bytes since its last update"));
  }
  BindingState& state = edit.executable().bindings;
  if (std::memcmp(state.value(entry.slot).data(), value, entry.type->size) == 0) return 0;
  const BindingChange change{.what = BindingChange::What::Scalar,
                             .index = entry.slot,
                             .value = {static_cast<const std::byte*>(value), entry.type->size},
                             .nodes = state.nodes_of_slot(entry.slot)};
  const ExecUpdate result = edit.executable().exec->change(change);
  if (!result.done()) fail_change(result, replica.label(), concat("setting \"", entry.name, "\""));
  state.record(change);
  return static_cast<std::uint32_t>(change.nodes.size());
}

void switch_command(GraphReplica& replica, const CommandRef& command, CommandSwitch to) {
  const std::string_view verb = to == CommandSwitch::Enable ? "enable" : "disable";
  const GraphReplica::Edit edit(replica);
  replica.require_updatable(verb);
  const FoundCommand found = require_command(edit, command, verb, replica.label());
  const std::string name =
      concat("command ", found.index, ", ", found.recording->command_name(found.index));
  if (!can_be_disabled(found.recording->commands[found.index].kind)) {
    fail(ErrorCode::Unsupported, Stage::Launch, replica.label(),
         concat(verb, ": ", name, ": only dispatches, copies, fills and updates can be disabled"));
  }
  BindingState& state = edit.executable().bindings;
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t node : found.nodes) {
    if (state.current().is_disabled(node) != (to == CommandSwitch::Disable)) nodes.push_back(node);
  }
  if (nodes.empty()) return;
  const BindingChange change{.what = to == CommandSwitch::Disable ? BindingChange::What::Disable
                                                                  : BindingChange::What::Enable,
                             .nodes = nodes};
  const ExecUpdate result = edit.executable().exec->change(change);
  if (!result.done()) fail_change(result, replica.label(), concat(verb, " of ", name, ","));
  state.record(change);
}

bool is_enabled(GraphReplica& replica, const CommandRef& command) {
  const GraphReplica::Edit edit(replica);
  replica.require_updatable("is_enabled");
  const FoundCommand found = require_command(edit, command, "is_enabled", replica.label());
  return found.nodes.empty() ||
         !edit.executable().bindings.current().is_disabled(found.nodes.front());
}

}  // namespace reprise::detail

// GraphCore's scalar slots, and enabling and disabling of its commands: changes of single nodes
// that need no other memory.
#include <cstring>

#include <reprise/error.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/timing_layout.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_replicas.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void fail_change(const ExecUpdate& refused, std::string_view label,
                              const std::string& what) {
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = Stage::Launch;
  details.label = label;
  details.native_call = "update of a node";
  details.native_code = refused.native_code;
  details.native_name = refused.native_name;
  throw Error(std::move(details),
              concat(what, " of graph ", label, " failed: ", to_string(refused.outcome),
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

// A command of a graph's recording or of one that it runs, wherever it stands there.
struct FoundCommand {
  const Recording* recording = nullptr;  // null: it is in none of them
  std::uint32_t index = 0;
  std::vector<std::uint32_t> nodes = {};  // by number; none of a barrier that became edges
};

FoundCommand find_command(const Plan& plan, BindingState& journal, const CommandRef& command) {
  FoundCommand found;
  found.index = plan.recording->command_of(command);
  if (found.index != kNone) {
    found.recording = plan.recording.get();
    if (const std::uint32_t node = journal.node_of_command(found.index); node != kNone)
      found.nodes.push_back(node);
    return found;
  }
  const auto look_into = [&](const Plan& in, std::uint32_t first_node) {
    const std::uint32_t index = in.recording->command_of(command);
    if (index == kNone) return;
    found.recording = in.recording.get();
    found.index = index;
    for (std::uint32_t node = 0; node < in.lowered.nodes.size(); ++node) {
      if (in.command_of(node) == index) found.nodes.push_back(first_node + node);
    }
  };
  if (plan.bodies.empty()) return found;
  const TimingLayout slots = timing_layout(plan);
  const std::vector<const Plan*> plans = plans_of_bodies(plan);
  for (std::size_t body = 0; body < plans.size(); ++body)
    look_into(*plans[body], slots.bodies[body].first_node);
  return found;
}

}  // namespace

void GraphCore::require_updatable(std::string_view verb) const {
  if (!body_->is_ours) {
    fail(ErrorCode::Unsupported, Stage::Launch, label(),
         concat(verb, ": graph ", label(),
                " was not compiled from a command buffer; update it where it was made"));
  }
  if (generation_ != device()->generation() ||
      device()->status()->shut_down.load(std::memory_order_acquire)) {
    fail(ErrorCode::StaleHandle, Stage::Launch, label(),
         concat(verb, ": graph ", label(), " is stale: its device was lost or shut down"));
  }
}

std::uint32_t GraphCore::find_scalar(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < scalars_.size(); ++i) {
    if (scalars_[i].name == name) return i;
  }
  const ScalarSlots& slots = body_->plan->slots;
  const std::uint32_t slot = slots.find(name);
  if (slot == kNone) {
    std::string names;
    for (const ScalarSlots::Slot& known : slots.slots)
      names += concat(names.empty() ? "" : ", ", known.name);
    fail(ErrorCode::InvalidArgument, Stage::Launch, label(),
         concat("graph ", label(), " has no scalar slot \"", name, "\"; ",
                names.empty() ? "it has none" : concat("it has ", names)));
  }
  scalars_.push_back({std::string(name), slots.slots[slot].bytes, slot});
  return static_cast<std::uint32_t>(scalars_.size() - 1);
}

void GraphCore::check_scalar(std::uint32_t scalar, std::uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  const Scalar& of = scalars_[scalar];
  if (of.bytes == bytes) return;
  fail(ErrorCode::ArgumentSize, Stage::Launch, label(),
       concat("scalar slot \"", of.name, "\" of graph ", label(), " holds a value of ", of.bytes,
              " bytes, not of ", bytes));
}

std::uint32_t GraphCore::set_scalar(std::uint32_t scalar, const void* value) {
  std::lock_guard lock(mutex_);
  require_updatable("set");
  const Scalar& of = scalars_[scalar];
  if (of.slot == kNone) {
    fail(ErrorCode::InvalidState, Stage::Launch, label(),
         concat("graph ", label(), " has no scalar slot \"", of.name, "\" of ", of.bytes,
                " bytes any more since it was updated"));
  }
  BindingState& journal = body_->journal;
  if (std::memcmp(journal.value(of.slot).data(), value, of.bytes) == 0) return 0;
  const BindingChange change{.what = BindingChange::What::Scalar,
                             .index = of.slot,
                             .value = {static_cast<const std::byte*>(value), of.bytes},
                             .nodes = journal.nodes_of_slot(of.slot)};
  const ExecUpdate result = body_->exec->change(change);
  if (!result.done()) fail_change(result, label(), concat("setting \"", of.name, "\""));
  journal.note(change);
  return static_cast<std::uint32_t>(change.nodes.size());
}

void GraphCore::switch_command(const CommandRef& command, Switch how) {
  const std::string_view verb = how == Switch::Enable ? "enable" : "disable";
  std::lock_guard one(updating_);
  std::lock_guard lock(mutex_);
  require_updatable(verb);
  const FoundCommand found = find_command(*body_->plan, body_->journal, command);
  if (found.recording == nullptr) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label(),
         concat(verb, ": the command is none of the recording that graph ", label(),
                " was compiled from or updated with, nor of what that runs"));
  }
  const std::string name =
      concat("command ", found.index, ", ", found.recording->command_name(found.index));
  if (!can_be_disabled(found.recording->commands[found.index].kind)) {
    fail(ErrorCode::Unsupported, Stage::Launch, label(),
         concat(verb, ": ", name, ": only dispatches, copies, fills and updates can be disabled"));
  }
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t node : found.nodes) {
    if (body_->journal.now().is_disabled(node) != (how == Switch::Disable)) nodes.push_back(node);
  }
  if (nodes.empty()) return;
  const BindingChange change{
      .what = how == Switch::Disable ? BindingChange::What::Disable : BindingChange::What::Enable,
      .nodes = nodes};
  const ExecUpdate result = body_->exec->change(change);
  if (!result.done()) fail_change(result, label(), concat(verb, " of ", name, ","));
  body_->journal.note(change);
}

bool GraphCore::is_enabled(const CommandRef& command) {
  std::lock_guard lock(mutex_);
  require_updatable("is_enabled");
  const FoundCommand found = find_command(*body_->plan, body_->journal, command);
  if (found.recording == nullptr) {
    fail(ErrorCode::InvalidArgument, Stage::Launch, label(),
         concat("is_enabled: the command is none of the recording of graph ", label(),
                ", nor of what that runs"));
  }
  return found.nodes.empty() || !body_->journal.now().is_disabled(found.nodes.front());
}

std::shared_ptr<const Plan> GraphCore::current_plan() const {
  std::lock_guard lock(mutex_);
  return body_->plan;
}

void check_scalar(const std::shared_ptr<GraphCore>& graph, std::uint32_t scalar,
                  std::uint64_t bytes) {
  graph->check_scalar(scalar, bytes);
}
std::uint32_t set_scalar(const std::shared_ptr<GraphCore>& graph, std::uint32_t scalar,
                         const void* value) {
  GraphCore& core = require_handle(graph, "GraphScalar", "set", Stage::Launch);
  return core.replicas() != nullptr ? core.replicas()->set_scalar(scalar, value)
                                    : core.set_scalar(scalar, value);
}

}  // namespace reprise::detail

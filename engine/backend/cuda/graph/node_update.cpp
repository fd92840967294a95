#include "backend/cuda/graph/node_update.hpp"

#include <algorithm>

#include "backend/cuda/graph/transfer_nodes.hpp"
#include "backend/cuda/segments/cuda_segments.hpp"
#include "backend/cuda/segments/segment_records.hpp"
#include "record/geometry.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

// The change as seen by `plan`'s body; its index is kNone if the change does not affect the body.
BindingChange change_in_body(const Plan& plan, const Body& body, const BindingChange& change) {
  BindingChange in_body = change;
  in_body.index = kNone;
  if (change.what == BindingChange::What::Scalar) {
    const auto& slots = plan.slots.in_bodies[body.index];
    const auto at = std::find(slots.begin(), slots.end(), change.index);
    if (at != slots.end()) in_body.index = static_cast<std::uint32_t>(at - slots.begin());
  } else {
    const auto end = body.buffers + body.buffer_count,
               at = std::find(body.buffers, end, change.index);
    if (at != end) in_body.index = static_cast<std::uint32_t>(at - body.buffers);
  }
  return in_body;
}

bool affects(const Plan& plan, std::uint32_t command, const BindingChange& change) {
  if (change.what == BindingChange::What::Scalar) {
    const auto uses = plan.slots.uses_of(command);
    return std::any_of(uses.begin(), uses.end(),
                       [&](const ScalarSlots::Use& use) { return use.slot == change.index; });
  }
  const Command& of = plan.recording->commands[command];
  if (of.kind == CommandKind::Barrier) return false;
  bool found = false;
  for_each_buffer(of.kind, of.payload,
                  [&](std::uint32_t buffer) { found = found || buffer == change.index; });
  return found;
}

// `node`: by number in timing_layout().
bool is_in_segment(const ExecNodes& of, std::uint32_t node) {
  return of.segments != nullptr && of.segments->contains(node) &&
         !(of.has_nodes_in_bodies && of.timing.body_of(node) != kNone);
}

bool runs_kernel(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  return cudaGraphNodeGetType(node, &type) == cudaSuccess && type == cudaGraphNodeTypeKernel;
}

}  // namespace

void NodeUpdate::reserve(const Plan& plan, const Bindings& bindings) {
  arguments_.reserve(*plan.recording);
  if (bindings.disabled.empty()) return;
  for (const NumberedPlan& of : numbered_plans(plan)) {
    for (std::uint32_t node = 0; node < of.plan->lowered.nodes.size(); ++node) {
      const std::uint32_t command = of.plan->command_of(node);
      if (command == kNone || !bindings.is_disabled(of.first_node + node)) continue;
      const Recording& recording = *of.plan->recording;
      if (recording.commands[command].kind == CommandKind::Fill)
        static_cast<void>(unused_memory(recording.payload<FillPayload>(command)));
    }
  }
}

GraphExecUpdateOutcome outcome_of(cudaGraphExecUpdateResult result) noexcept {
  using Outcome = GraphExecUpdateOutcome;
  switch (result) {
    case cudaGraphExecUpdateSuccess: return Outcome::Success;
    case cudaGraphExecUpdateError: return Outcome::Error;
    case cudaGraphExecUpdateErrorTopologyChanged: return Outcome::TopologyChanged;
    case cudaGraphExecUpdateErrorNodeTypeChanged: return Outcome::NodeTypeChanged;
    case cudaGraphExecUpdateErrorFunctionChanged: return Outcome::FunctionChanged;
    case cudaGraphExecUpdateErrorParametersChanged: return Outcome::ParametersChanged;
    case cudaGraphExecUpdateErrorNotSupported: return Outcome::NotSupported;
    case cudaGraphExecUpdateErrorUnsupportedFunctionChange:
      return Outcome::UnsupportedFunctionChange;
    case cudaGraphExecUpdateErrorAttributesChanged: return Outcome::AttributesChanged;
  }
  return Outcome::Error;
}

ExecUpdate NodeUpdate::result_of(NativeApi api, std::int64_t code, const char* call,
                                 std::uint32_t node) const {
  if (code == 0) return {};
  try {
    throw_cuda_error(api, code, call, context_->at(Stage::Launch));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::DeviceLost) throw;
    ExecUpdate refused;
    refused.node = node;
    refused.native_code = code;
    refused.native_name = error.details().native_name;
    switch (code) {
      case cudaErrorInvalidValue:
        refused.outcome = GraphExecUpdateOutcome::ParametersChanged;
        break;
      case cudaErrorNotSupported:
      case cudaErrorNotPermitted: refused.outcome = GraphExecUpdateOutcome::NotSupported; break;
      case cudaErrorInvalidDeviceFunction:
        refused.outcome = GraphExecUpdateOutcome::UnsupportedFunctionChange;
        break;
      default: refused.outcome = GraphExecUpdateOutcome::Error; break;
    }
    return refused;
  }
}

ExecUpdate NodeUpdate::set(const ExecNodes& of, std::uint32_t node, const Source& source,
                           const BindingChange* change) {
  const std::uint32_t command = source.plan.command_of(node);
  // Entry and exit kernels have no parameters.
  if (command == kNone) return {};
  const NodeTarget at{of, of.exec, 0, 0, node, command, node};
  if (of.handles.empty()) return set_command(at, source, change);
  // Each executable has its own condition handles, which bindings do not contain.
  bindings_with_handles_ = source.bindings;
  const auto& buffers = source.plan.recording->buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind != BufferKind::Condition) continue;
    if (i >= of.handles.size() || of.handles[i] == nullptr)
      return {.outcome = GraphExecUpdateOutcome::NotSupported, .node = node};
    bindings_with_handles_.address[i] = of.handles[i];
  }
  return set_command(
      at, {source.plan, bindings_with_handles_, source.staged, source.retained, source.callbacks},
      change);
}

ExecUpdate NodeUpdate::set_in_graph(const ExecNodes& of, std::uint32_t node, const Source& source) {
  const std::uint32_t command = source.plan.command_of(node);
  if (command == kNone) return {};
  return set_command({of, nullptr, 0, 0, node, command, node}, source, nullptr);
}

ExecUpdate NodeUpdate::set_command(const NodeTarget& at, const Source& source,
                                   const BindingChange* change) {
  const std::uint32_t number = at.first_node + at.in_lowered;
  if (is_in_segment(at.of, number)) {
    if (at.of.segments->set(number, source.plan, source.bindings)) return {};
    return {.outcome = GraphExecUpdateOutcome::NotSupported, .node = at.node};
  }
  switch (source.plan.recording->commands[at.command].kind) {
    case CommandKind::Dispatch: return set_kernel(at, source);
    case CommandKind::Copy:
    case CommandKind::Update: return set_copy_node(at, source);
    case CommandKind::Fill:
      return set_fill_node(at.exec, at.handle(),
                           source.plan.recording->payload<FillPayload>(at.command), source.bindings,
                           at.exec != nullptr && source.bindings.is_disabled(number), at.node);
    case CommandKind::Op: return set_op(at, source);
    case CommandKind::Host: return set_host(at, source);
    case CommandKind::Barrier: return {};  // has no parameters
    case CommandKind::Nested:
    case CommandKind::Conditional: return set_bodies(at, source, change);
  }
  return {.outcome = GraphExecUpdateOutcome::NotSupported, .node = at.node};
}

// Applies a change of bindings. A change of the recording recreates the bodies instead.
ExecUpdate NodeUpdate::set_bodies(const NodeTarget& at, const Source& source,
                                  const BindingChange* change) {
  if (change == nullptr) return {.outcome = GraphExecUpdateOutcome::NotSupported, .node = at.node};
  std::uint32_t number = at.of.timing.first_body(at.first_node + at.in_lowered);
  for (const Body& body : bodies_of(source.plan.recording->commands[at.command])) {
    const std::uint32_t this_one = number++;
    const BindingChange in_body = change_in_body(source.plan, body, *change);
    if (in_body.index == kNone) continue;
    const Plan& plan = *source.plan.bodies[body.index];
    Bindings bindings = bindings_of_body(source.plan, body, source.bindings);
    bindings.disabled = source.bindings.disabled;
    for (std::uint32_t node = 0; node < plan.lowered.nodes.size(); ++node) {
      const std::uint32_t command = plan.command_of(node);
      if (command == kNone || !affects(plan, command, in_body)) continue;
      ExecUpdate result =
          set_command({at.of, at.exec, at.of.timing.bodies[this_one].first_node,
                       at.of.first_keys[this_one], node, command, at.node},
                      {plan, bindings, source.staged, source.retained, source.callbacks}, &in_body);
      if (!result.done()) return result;
    }
  }
  return {};
}

ExecUpdate NodeUpdate::set_kernel(const NodeTarget& at, const Source& source) {
  return set_kernel_node(at, arguments_.of(source.plan, source.bindings, at.command));
}

ExecUpdate NodeUpdate::set_kernel_node(const NodeTarget& at,
                                       const CUDA_KERNEL_NODE_PARAMS& parameters) {
  if (at.exec == nullptr) {
    return result_of(NativeApi::Driver,
                     context_->driver.cuGraphKernelNodeSetParams(at.handle(), &parameters),
                     "cuGraphKernelNodeSetParams", at.node);
  }
  return result_of(
      NativeApi::Driver,
      context_->driver.cuGraphExecKernelNodeSetParams(at.exec, at.handle(), &parameters),
      "cuGraphExecKernelNodeSetParams", at.node);
}

ExecUpdate NodeUpdate::set_host(const NodeTarget& at, const Source& source) {
  if (source.callbacks == nullptr) return {};
  const Recording& recording = *source.plan.recording;
  const auto& host = recording.payload<HostPayload>(at.command);
  const cudaHostNodeParams parameters = {
      &HostCallbacks::run,
      source.callbacks->add(*recording.functions[host.function], at.first_key + at.command)};
  if (at.exec == nullptr)
    return result_of(NativeApi::Runtime, cudaGraphHostNodeSetParams(at.handle(), &parameters),
                     "cudaGraphHostNodeSetParams", at.node);
  return result_of(NativeApi::Runtime,
                   cudaGraphExecHostNodeSetParams(at.exec, at.handle(), &parameters),
                   "cudaGraphExecHostNodeSetParams", at.node);
}

ExecUpdate NodeUpdate::set_copy_node(const NodeTarget& at, const Source& source) {
  const Recording& recording = *source.plan.recording;
  const auto address = [&](const Endpoint& e) {
    return e.buffer != kNone ? source.bindings.address[e.buffer] + e.offset
                             : static_cast<std::byte*>(e.host);
  };
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  CopyShape shape;
  if (recording.commands[at.command].kind == CommandKind::Update) {
    const auto& update = recording.payload<UpdatePayload>(at.command);
    const Pitch row{update.bytes, update.bytes};
    from = source.staged.add(at.first_key + at.command, update.data, update.bytes);
    to = source.bindings.address[update.buffer] + update.offset;
    shape = {{update.bytes, 1, 1}, row, row};
  } else {
    const auto& copy = recording.payload<CopyPayload>(at.command);
    from = address(copy.source);
    to = address(copy.destination);
    shape = {copy.extent, copy.source_pitch, copy.destination_pitch};
    if (copy.source.is_snapshot()) from = source.staged.add(at.first_key + at.command, copy);
    if (copy_ != nullptr && runs_kernel(at.handle())) {
      CopyLaunch launch(from, to, shape);
      // A kernel may not access host memory that is not pinned.
      if (!launch.is_possible() || !is_within_device(recording, copy))
        return {.outcome = GraphExecUpdateOutcome::NodeTypeChanged, .node = at.node};
      return set_kernel_node(at, launch.parameters(copy_->function()));
    }
  }
  return result_of(
      NativeApi::Runtime, set_copy(at.exec, at.handle(), from, to, shape),
      at.exec == nullptr ? "cudaGraphMemcpyNodeSetParams" : "cudaGraphExecMemcpyNodeSetParams",
      at.node);
}

ExecUpdate NodeUpdate::set_op(const NodeTarget& at, const Source& source) {
  if (at.exec == nullptr)
    // CUDA cannot replace the child graph of a graph's node.
    return {.outcome = GraphExecUpdateOutcome::NotSupported, .node = at.node};
  const SetupScope scope(*context_, Stage::Launch);
  const OwnedGraph graph = capture_op(*context_, *source.plan.recording, at.command,
                                      source.bindings, source.retained, OpLocation::Graph);
  if (graph.get() == nullptr)
    return {.outcome = GraphExecUpdateOutcome::TopologyChanged, .node = at.node};
  return result_of(NativeApi::Runtime,
                   cudaGraphExecChildGraphNodeSetParams(at.exec, at.handle(), graph.get()),
                   "cudaGraphExecChildGraphNodeSetParams", at.node);
}

// cudaGraphNodeSetEnabled is wrong for memset nodes in CUDA 13.0: nodes behind a disabled one do
// not wait for those before it. A disabled fill therefore writes memory that nothing uses.
ExecUpdate NodeUpdate::set_enabled(const ExecNodes& of, std::uint32_t node, const Plan& plan,
                                   const Bindings& bindings) {
  if (is_in_segment(of, node)) {
    of.segments->set_enabled(node, !bindings.is_disabled(node));
    return {};
  }
  const std::vector<NumberedPlan> plans = numbered_plans(plan);
  const auto next = std::upper_bound(plans.begin(), plans.end(), node,
                                     [](std::uint32_t number, const NumberedPlan& of_body) {
                                       return number < of_body.first_node;
                                     });
  const NumberedPlan& in = *(next - 1);
  const std::uint32_t command = in.plan->command_of(node - in.first_node);
  if (command == kNone || in.plan->recording->commands[command].kind != CommandKind::Fill) {
    return result_of(
        NativeApi::Runtime,
        cudaGraphNodeSetEnabled(of.exec, of.nodes[node], bindings.is_disabled(node) ? 0 : 1),
        "cudaGraphNodeSetEnabled", node);
  }
  const auto& fill = in.plan->recording->payload<FillPayload>(command);
  const auto number = static_cast<std::size_t>(next - plans.begin()) - 1;  // 0: the plan itself
  const std::vector<Bindings> bodies = bindings_of_bodies(plans, bindings);
  return set_fill_node(of.exec, of.nodes[node], fill, number == 0 ? bindings : bodies[number - 1],
                       bindings.is_disabled(node), node);
}

ExecUpdate NodeUpdate::set_fill_node(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                     const FillPayload& fill, const Bindings& bindings,
                                     bool is_disabled, std::uint32_t node) {
  const cudaError_t result =
      is_disabled ? set_unused_fill(exec, handle, unused_memory(fill), fill)
                  : set_fill(exec, handle, bindings.address[fill.buffer] + fill.offset, fill);
  return result_of(
      NativeApi::Runtime, result,
      exec == nullptr ? "cudaGraphMemsetNodeSetParams" : "cudaGraphExecMemsetNodeSetParams", node);
}

std::byte* NodeUpdate::unused_memory(const FillPayload& fill) {
  const std::uint64_t bytes = unused_fill_bytes(fill);
  auto at = unused_memory_.lower_bound(bytes);
  if (at == unused_memory_.end()) {
    auto memory = std::make_unique<const CudaMemory>(context_, BufferKind::Device, bytes,
                                                     Stage::Launch, "memory of disabled fills");
    at = unused_memory_.emplace(bytes, std::move(memory)).first;
  }
  return at->second->bytes();
}

void NodeUpdate::disable_all(const ExecNodes& of, const Plan& plan, const Bindings& bindings) {
  for (std::uint32_t node = 0; node < bindings.disabled.size(); ++node) {
    if (bindings.disabled[node] == 0 || is_in_segment(of, node)) continue;
    const ExecUpdate result = set_enabled(of, node, plan, bindings);
    if (!result.done())
      throw_cuda_error(NativeApi::Runtime, result.native_code, "cudaGraphNodeSetEnabled",
                       context_->at(Stage::Instantiate));
  }
}

}  // namespace reprise::detail

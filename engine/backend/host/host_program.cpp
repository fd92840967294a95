#include "backend/host/host_program.hpp"

#include <algorithm>
#include <cstring>

#include <reprise/error.hpp>

#include "backend/host/checked_dispatch.hpp"
#include "backend/host/host_kernel.hpp"
#include "backend/host/node_clock.hpp"
#include "backend/host/segment_replay.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/loops.hpp"
#include "record/kernel_arguments.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

std::byte* address_of(const Endpoint& endpoint, const Bindings& bindings) {
  if (endpoint.buffer == kNone) return static_cast<std::byte*>(endpoint.host);
  return bindings.address[endpoint.buffer] + endpoint.offset;
}

// Null if the kernel of the dispatch does not report its accesses.
std::shared_ptr<CheckedDispatch> checks_of(const Plan& plan, const Bindings& bindings,
                                           std::uint32_t command, WrittenBytes& written) {
  const auto& dispatch = plan.recording->payload<DispatchPayload>(command);
  const KernelCore& kernel = *plan.recording->kernels[dispatch.kernel];
  if (!static_cast<const HostKernel&>(*kernel.backend).is_checked) return nullptr;
  return std::make_shared<CheckedDispatch>(plan, bindings, command, written);
}

}  // namespace

HostProgram::CopyNode HostProgram::copy_node(std::uint32_t command,
                                             const Bindings& bindings) const {
  const Recording& recording = *plan_->recording;
  if (recording.commands[command].kind == CommandKind::Update) {
    const auto& update = recording.payload<UpdatePayload>(command);
    const Pitch pitch{update.bytes, update.bytes};
    return {{const_cast<std::byte*>(update.data), pitch},
            {bindings.address[update.buffer] + update.offset, pitch},
            {update.bytes, 1, 1}};
  }
  const auto& copy = recording.payload<CopyPayload>(command);
  return {{address_of(copy.source, bindings), copy.source_pitch},
          {address_of(copy.destination, bindings), copy.destination_pitch},
          copy.extent};
}

HostProgram::FillNode HostProgram::fill_node(std::uint32_t command,
                                             const Bindings& bindings) const {
  const auto& fill = plan_->recording->payload<FillPayload>(command);
  return {{bindings.address[fill.buffer] + fill.offset, fill.pitch},
          fill.extent,
          fill.bits,
          fill.element_bytes};
}

HostProgram::RebuiltNode HostProgram::rebuild_node(std::uint32_t node,
                                                   const Bindings& bindings) const {
  if (state_->has_conditions()) return rebuild_bound_node(node, state_->bind(bindings));
  return rebuild_bound_node(node, bindings);
}

HostProgram::RebuiltNode HostProgram::rebuild_bound_node(std::uint32_t node,
                                                         const Bindings& bindings) const {
  RebuiltNode made;
  made.node = node;
  if (nodes_[node].kind == Kind::Nothing) return made;
  const std::uint32_t command = plan_->command_of(node);
  switch (nodes_[node].kind) {
    case Kind::Nothing:
    case Kind::Callback: break;
    case Kind::Dispatch:
      made.parameters.resize(plan_->recording->payload<DispatchPayload>(command).parameter_bytes);
      fill_parameter_block(*plan_, bindings, command, made.parameters.data());
      made.checks = checks_of(*plan_, bindings, command, shared_.state->written());
      break;
    case Kind::Copy: made.copy = copy_node(command, bindings); break;
    case Kind::Fill: made.fill = fill_node(command, bindings); break;
    case Kind::Op: made.op = record_steps(command, bindings); break;
    case Kind::Bodies: made.body = std::make_unique<BodyNode>(body_node(node, bindings)); break;
  }
  return made;
}

void HostProgram::replace(RebuiltNode& made) noexcept {
  const Node& node = nodes_[made.node];
  switch (node.kind) {
    case Kind::Nothing:
    case Kind::Callback: return;
    case Kind::Dispatch:
      if (!made.parameters.empty())
        std::memcpy(blocks_[node.index], made.parameters.data(), made.parameters.size());
      dispatches_[node.index].swap_checks(made.checks);
      return;
    case Kind::Copy: copies_[node.index] = made.copy; return;
    case Kind::Fill: fills_[node.index] = made.fill; return;
    case Kind::Op: ops_[node.index].swap(made.op); return;
    case Kind::Bodies: std::swap(bodies_[node.index], *made.body); return;
  }
}

HostProgram::HostProgram(std::shared_ptr<const Plan> plan, const Bindings& bindings,
                         const DeviceGeneration& generation, FaultMarks* marks)
    : plan_(std::move(plan)),
      marks_(marks),
      state_(std::make_unique<ReplayState>(*plan_->recording)),
      timing_(timing_layout(*plan_)),
      shared_{&generation, state_.get(), &timing_},
      first_loop_(number_loops(*plan_->recording, 0)) {
  make_nodes(state_->bind(bindings));
}

HostProgram::HostProgram(std::shared_ptr<const Plan> plan, const Bindings& bindings,
                         const BodyNode::Shared& outer, std::uint32_t first_loop,
                         std::uint32_t first_node)
    : plan_(std::move(plan)),
      marks_(nullptr),
      shared_(outer),
      first_node_(first_node),
      first_loop_(number_loops(*plan_->recording, first_loop)) {
  make_nodes(bindings);
}

void HostProgram::make_nodes(const Bindings& bindings) {
  const LoweredGraph& lowered = plan_->lowered;
  nodes_.reserve(lowered.nodes.size());
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    const bool runs = lowered.nodes[node].kind == LoweredKind::Work &&
                      plan_->dependencies.is_join[lowered.nodes[node].dependency_node] == 0;
    nodes_.push_back(runs ? make_node(node, bindings) : Node{});
  }
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node)
    disabled_.push_back(bindings.is_disabled(first_node_ + node) ? 1 : 0);
  has_callbacks_ =
      !callbacks_.empty() || std::any_of(bodies_.begin(), bodies_.end(),
                                         [](const BodyNode& node) { return node.has_callbacks(); });
  for (const Segment& segment : lowered.segments)
    segments_.push_back(std::make_unique<SegmentReplay>(*this, segment, *shared_.generation));
  link();
}

HostProgram::~HostProgram() = default;

HostProgram::Node HostProgram::make_node(std::uint32_t node, const Bindings& bindings) {
  const Recording& recording = *plan_->recording;
  const std::uint32_t command =
      plan_->dependencies.node_command[plan_->lowered.nodes[node].dependency_node];
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: return make_dispatch(command, bindings);
    case CommandKind::Copy:
    case CommandKind::Update:
      copies_.push_back(copy_node(command, bindings));
      return {Kind::Copy, static_cast<std::uint32_t>(copies_.size() - 1)};
    case CommandKind::Fill:
      fills_.push_back(fill_node(command, bindings));
      return {Kind::Fill, static_cast<std::uint32_t>(fills_.size() - 1)};
    case CommandKind::Host: {
      callbacks_.push_back(
          recording.functions[recording.payload<HostPayload>(command).function].get());
      return {Kind::Callback, static_cast<std::uint32_t>(callbacks_.size() - 1)};
    }
    case CommandKind::Op: return make_op(command, bindings);
    case CommandKind::Barrier: return {};
    case CommandKind::Nested:
    case CommandKind::Conditional: return make_bodies(node, bindings);
  }
  return {};
}

HostProgram::Node HostProgram::make_dispatch(std::uint32_t command, const Bindings& bindings) {
  const Recording& recording = *plan_->recording;
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  const KernelCore& kernel = *recording.kernels[dispatch.kernel];
  const auto* host = dynamic_cast<const HostKernel*>(kernel.backend.get());
  const auto refuse = [&](ErrorCode code, const std::string& problem) {
    ErrorDetails details;
    details.code = code;
    details.stage = Stage::Instantiate;
    details.command = command;
    details.label = recording.label_path(recording.commands[command].label);
    throw Error(std::move(details),
                concat("command ", command, " (", recording.command_name(command), "): ", problem));
  };
  if (host == nullptr) {
    refuse(ErrorCode::WrongDevice,
           concat("kernel ", kernel.name, " was not loaded on the host device"));
  }
  // Validation can be off.
  if (const std::string fault =
          launch_fault(kernel, dispatch.grid, dispatch.block, dispatch.shared_bytes, host_limits());
      !fault.empty())
    refuse(ErrorCode::LaunchLimits, fault);
  auto* const parameters =
      static_cast<std::byte*>(parameters_.allocate(dispatch.parameter_bytes, 64));
  fill_parameter_block(*plan_, bindings, command, parameters);
  HostBlock block;
  block.grid = dispatch.grid;
  block.block = dispatch.block;
  block.shared_bytes = dispatch.shared_bytes;
  block.parameters = parameters;
  block.parameter_bytes = dispatch.parameter_bytes;
  block.kernel = kernel.name.c_str();
  dispatches_.emplace_back(host->function, block);
  auto checks = checks_of(*plan_, bindings, command, shared_.state->written());
  dispatches_.back().swap_checks(checks);
  blocks_.push_back(parameters);
  return {Kind::Dispatch, static_cast<std::uint32_t>(dispatches_.size() - 1)};
}

std::unique_ptr<OpSteps> HostProgram::record_steps(std::uint32_t command,
                                                   const Bindings& bindings) const {
  auto steps = std::make_unique<OpSteps>(bindings);
  try {
    record_op(*plan_->recording, command, *steps);
  } catch (const Error& error) {
    ErrorDetails details = error.details();
    details.stage = Stage::Instantiate;
    details.command = command;
    details.label = plan_->recording->label_path(plan_->recording->commands[command].label);
    throw Error(std::move(details),
                concat("command ", command, " (", plan_->recording->command_name(command),
                       "): ", error.text()));
  }
  if (steps->has_checked_kernels())
    steps->set_checks(
        std::make_shared<CheckedDispatch>(*plan_, bindings, command, shared_.state->written()));
  return steps;
}

HostProgram::Node HostProgram::make_op(std::uint32_t command, const Bindings& bindings) {
  ops_.push_back(record_steps(command, bindings));
  return {Kind::Op, static_cast<std::uint32_t>(ops_.size() - 1)};
}

BodyNode HostProgram::body_node(std::uint32_t node, const Bindings& bindings) const {
  const Recording& recording = *plan_->recording;
  const std::uint32_t command =
      plan_->dependencies.node_command[plan_->lowered.nodes[node].dependency_node];
  std::uint32_t loop = first_loop_[command],
                body_number = shared_.timing->first_body(first_node_ + node);
  BodyNode made(shared_);
  if (recording.commands[command].kind == CommandKind::Conditional) {
    const auto& conditional = recording.payload<ConditionalPayload>(command);
    made = BodyNode(shared_, conditional, bindings.address[conditional.condition], loop);
    if (conditional.branch == Branch::While) ++loop;
  }
  for (const Body& body : bodies_of(recording.commands[command])) {
    Bindings body_bindings = bindings_of_body(*plan_, body, bindings);
    body_bindings.disabled = bindings.disabled;
    made.add(std::make_unique<HostProgram>(plan_->bodies[body.index], body_bindings, shared_, loop,
                                           shared_.timing->bodies[body_number].first_node),
             body_number);
    ++body_number;
    loop += count_loops(*recording.bodies[body.index]);
  }
  return made;
}

HostProgram::Node HostProgram::make_bodies(std::uint32_t node, const Bindings& bindings) {
  bodies_.push_back(body_node(node, bindings));
  return {Kind::Bodies, static_cast<std::uint32_t>(bodies_.size() - 1)};
}

void HostProgram::link() {
  const std::uint32_t count = node_count();
  std::uint32_t roots = 0;
  first_successor_.assign(count + 1, 0);
  for (std::uint32_t node = 0; node < count; ++node) {
    if (edges_into(node).empty()) ++roots;
    for (const LoweredEdge& edge : edges_into(node)) ++first_successor_[edge.from + 1];
  }
  has_parallelism_ = roots > 1;
  for (std::uint32_t node = 0; node < count; ++node) {
    has_parallelism_ = has_parallelism_ || first_successor_[node + 1] > 1;
    first_successor_[node + 1] += first_successor_[node];
  }
  successors_.resize(first_successor_[count]);
  std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end());
  for (std::uint32_t node = 0; node < count; ++node) {
    for (const LoweredEdge& edge : edges_into(node)) successors_[next[edge.from]++] = node;
  }
}

// One clock read per node: the end of a node is the start of the next.
void HostProgram::run_in_order(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors,
                               NodeTime* times, std::uint16_t worker) noexcept {
  auto segment = segments_.begin();
  std::int64_t started = times == nullptr ? 0 : steady_now();
  for (std::uint32_t node = 0; node < node_count() && !shared_.generation->is_lost();) {
    if (segment != segments_.end() && (*segment)->segment().first_node == node) {
      (*segment)->run(workers, replay, errors, times);
      node += (*segment++)->segment().nodes;
      if (times != nullptr) started = steady_now();
      continue;
    }
    run(node, workers, replay, errors);
    if (times != nullptr) {
      const std::int64_t ended = steady_now();
      times[node] = node_time(started, ended, worker);
      started = ended;
    }
    ++node;
  }
}

void HostProgram::run(std::uint32_t node, WorkerArena& workers, std::uint64_t replay,
                      CallbackErrors& errors) noexcept {
  if (marks_ == nullptr || nodes_[node].kind == Kind::Nothing)
    return run_unmarked(node, workers, replay, errors);
  marks_->begin(node, replay);
  run_unmarked(node, workers, replay, errors);
  marks_->end(node, replay);
}

void HostProgram::start(std::uint32_t node, std::uint64_t replay, CallbackErrors& errors,
                        std::function<void()> done) noexcept {
  if (marks_ != nullptr) marks_->begin(node, replay);
  if (WrittenBytes& written = shared_.state->written(); written.is_tracking())
    mark_written(node, written);
  ops_[nodes_[node].index]->start(replay, errors, [this, node, replay, done = std::move(done)] {
    if (marks_ != nullptr) marks_->end(node, replay);
    done();
  });
}

void HostProgram::run_blocks(const SegmentItem& item, std::uint64_t replay) noexcept {
  if (marks_ != nullptr) marks_->begin(item.node, replay);
  if (disabled_[item.node] != 0) return;
  if (WrittenBytes& written = shared_.state->written(); written.is_tracking())
    mark_written(item.node, written);
  const Node& entry = nodes_[item.node];
  switch (entry.kind) {
    case Kind::Dispatch:
      return dispatches_[entry.index].run_range(item.first_block,
                                                std::uint64_t{item.first_block} + item.blocks);
    case Kind::Copy: return run_copy(entry.index);
    case Kind::Fill: return run_fill(entry.index);
    case Kind::Nothing:
    case Kind::Callback:
    case Kind::Op:
    case Kind::Bodies: return;  // never in a segment
  }
}

void HostProgram::run_copy(std::uint32_t index) noexcept {
  copy_rows(copies_[index].source, copies_[index].destination, copies_[index].extent);
}

void HostProgram::run_fill(std::uint32_t index) noexcept {
  const FillNode& fill = fills_[index];
  fill_rows(fill.destination, fill.extent, fill.bits, fill.element_bytes);
}

void HostProgram::end_blocks(std::uint32_t node, std::uint64_t replay,
                             CallbackErrors& errors) noexcept {
  if (marks_ != nullptr) marks_->end(node, replay);
  end_dispatch(node, replay, errors);
}

void HostProgram::end_dispatch(std::uint32_t node, std::uint64_t replay,
                               CallbackErrors& errors) noexcept {
  if (nodes_[node].kind != Kind::Dispatch) return;
  if (const auto& checks = dispatches_[nodes_[node].index].checks())
    errors.run([&] { checks->throw_fault(); }, replay, plan_->command_of(node));
}

// The kernels of a checked dispatch report what they write. All others write what they declare.
void HostProgram::mark_written(std::uint32_t node, WrittenBytes& written) const noexcept {
  const Node& entry = nodes_[node];
  switch (entry.kind) {
    case Kind::Nothing:
    case Kind::Bodies: return;
    case Kind::Dispatch:
      if (dispatches_[entry.index].checks()) return;
      break;
    case Kind::Copy:
    case Kind::Fill:
    case Kind::Callback:
    case Kind::Op: break;
  }
  written.mark(*plan_->recording, plan_->command_of(node));
}

void HostProgram::run_unmarked(std::uint32_t node, WorkerArena& workers, std::uint64_t replay,
                               CallbackErrors& errors) noexcept {
  const Node& entry = nodes_[node];
  if (disabled_[node] != 0) return;
  if (WrittenBytes& written = shared_.state->written(); written.is_tracking())
    mark_written(node, written);
  switch (entry.kind) {
    case Kind::Nothing: return;
    case Kind::Dispatch:
      dispatches_[entry.index].run(workers);
      return end_dispatch(node, replay, errors);
    case Kind::Copy: return run_copy(entry.index);
    case Kind::Fill: return run_fill(entry.index);
    case Kind::Bodies: return bodies_[entry.index].run(workers, replay, errors);
    case Kind::Op: return ops_[entry.index]->run(workers, replay, errors);
    case Kind::Callback: return errors.run(*callbacks_[entry.index], replay, node);
  }
}

}  // namespace reprise::detail

#include "backend/cuda/graph/cuda_graph_builder.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "backend/cuda/graph/instantiate_graph.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/loops.hpp"
#include "record/geometry.hpp"

namespace reprise::detail {
namespace {

Error launch_limits(std::string text) {
  ErrorDetails details;
  details.code = ErrorCode::LaunchLimits;
  details.stage = Stage::Instantiate;
  return Error(std::move(details), text);
}

bool contains(const std::vector<cudaGraphNode_t>& nodes, cudaGraphNode_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

CudaGraphBuilder::CudaGraphBuilder(const CudaContext& context, const Plan& plan,
                                   const Bindings& bindings, const Target& target)
    : context_(context),
      plan_(plan),
      target_(target),
      call_(context.at(Stage::Instantiate)),
      bindings_(with_conditions(bindings)),
      next_key_(target.outer == nullptr ? own_next_key_ : target.outer->next_key),
      first_key_(next_key_),
      own_timing_(target.outer == nullptr && !plan.bodies.empty() ? timing_layout(plan)
                                                                  : TimingLayout{}),
      timing_(target.outer == nullptr ? own_timing_ : target.outer->timing),
      own_bodies_(own_timing_.bodies.size()),
      bodies_(target.outer == nullptr ? own_bodies_ : target.outer->bodies),
      first_loop_(
          number_loops(*plan.recording, target.outer == nullptr ? 0 : target.outer->first_loop)),
      arguments_(*plan.recording) {
  next_key_ += static_cast<std::uint32_t>(plan.recording->commands.size());
}

std::uint32_t CudaGraphBuilder::lowered_of(cudaGraphNode_t node) const {
  if (node == nullptr) return kNone;
  // Nodes of bodies are found by the nodes that run them, from the innermost body on.
  const auto is_around = [&](const BodyGraph& body) { return contains(body.nodes, node); };
  for (auto body = bodies_.begin(); body != bodies_.end();) {
    body = std::find_if(bodies_.begin(), bodies_.end(), is_around);
    if (body != bodies_.end()) node = body->parent;
  }
  const auto at = std::find(nodes_.begin(), nodes_.end(), node);
  return at == nodes_.end() ? kNone : static_cast<std::uint32_t>(at - nodes_.begin());
}

ExecNodes CudaGraphBuilder::exec_nodes(cudaGraphExec_t exec) const {
  ExecNodes made{exec, nodes_, own_timing_};
  made.segments = target_.segments;
  made.has_nodes_in_bodies = times_bodies();
  for (const BodyGraph& body : own_bodies_) {
    made.nodes.insert(made.nodes.end(), body.nodes.begin(), body.nodes.end());
    made.first_keys.push_back(body.first_key);
  }
  const auto& buffers = plan_.recording->buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind != BufferKind::Condition) continue;
    made.handles.resize(buffers.size());
    made.handles[i] = bindings_.address[i];
  }
  return made;
}

Error CudaGraphBuilder::with_command(const Error& error, std::uint32_t node) const {
  ErrorDetails details = error.details();
  details.stage = Stage::Instantiate;
  const std::uint32_t command = plan_.command_of(node);
  if (command == kNone)
    return Error(std::move(details),
                 concat("the entry or exit kernel of graph \"", plan_.label, "\": ", error.text()));
  const Recording& recording = *plan_.recording;
  details.command = command;
  details.label = recording.label_path(recording.commands[command].label);
  std::string text = concat("command ", command, ", ", recording.command_name(command));
  if (!details.label.empty()) text += concat(", in \"", details.label, "\"");
  text += concat(": ", error.text());
  return Error(std::move(details), text);
}

void CudaGraphBuilder::add_nodes() {
  const LoweredGraph& lowered = plan_.lowered;
  const bool is_timestamped = target_.timestamps.kernels != nullptr;
  const bool is_body = target_.outer != nullptr;
  // Entry and exit kernels take the timestamps where the plan has them.
  const bool needs_begin = is_timestamped && !is_body && !lowered.entry_exit.entry,
             needs_end = is_timestamped && !is_body && !lowered.entry_exit.exit;
  nodes_.resize(lowered.nodes.size());
  done_.resize(lowered.nodes.size());
  after_.clear();
  if (needs_begin) boundary_.begin = add_boundary(LoweredKind::Entry);
  const std::uint32_t overlapping = needs_begin ? root_beside_start() : kNone;
  cudaGraphNode_t before = is_body ? add_iteration_timestamp() : boundary_.begin;
  for (std::uint32_t i = 0; i < lowered.nodes.size(); ++i) {
    if (segment_of(i) != kNone) {
      i = add_segment(i, before);
      continue;
    }
    after_.clear();
    early_.clear();
    for (const LoweredEdge& edge : lowered.edges_into(i))
      (may_start_programmatically(edge) ? early_ : after_).push_back(done_[edge.from]);
    if (after_.empty() && early_.empty() && before != nullptr && i != overlapping)
      after_.push_back(before);
    if (is_timestamped && lowered.nodes[i].kind == LoweredKind::Exit) add_leaves();
    if (target_.segments != nullptr) remove_repeated_predecessors();
    adding_ = i;
    if (is_conditional(i)) come_after_last_conditional();
    try {
      const bool is_marked =
          target_.markers != nullptr && lowered.nodes[i].kind == LoweredKind::Work;
      if (is_marked) static_cast<void>(add_fault_mark(target_.markers->begun(i)));
      done_[i] = nodes_[i] = add_node(lowered.nodes[i]);
      if (is_conditional(i)) last_conditional_ = nodes_[i];
      if (is_timestamped && lowered.nodes[i].kind == LoweredKind::Entry)
        // Also the predecessor of the roots that the entry kernel does not cover.
        before = nodes_[i];
      if (!early_.empty()) add_programmatic_edges(nodes_[i]);
      if (is_marked) {
        after_.assign(1, nodes_[i]);
        done_[i] = add_fault_mark(target_.markers->ended(i));
      }
      if (timestamps_nodes() && lowered.nodes[i].kind == LoweredKind::Work)
        done_[i] = is_body ? add_body_node_timestamp(i) : add_node_timestamp(i);
    } catch (const Error& error) {
      throw with_command(error, i);
    }
  }
  if (!is_body) add_missing_conditionals();
  if (needs_end) boundary_.end = add_end_timestamp();
  if (overlapping != kNone)
    overlap_start(target_.graph, {boundary_.begin, needs_end ? boundary_.end : nodes_.back()},
                  nodes_[overlapping], call_);
  if (is_body && target_.outer->iteration != nullptr) add_iteration(*target_.outer->iteration);
}

std::uint32_t CudaGraphBuilder::segment_of(std::uint32_t node) const {
  const bool are_nodes =
      target_.segments == nullptr || (target_.outer != nullptr && times_bodies());
  return are_nodes ? kNone : plan_.lowered.segment_of(node);
}

bool CudaGraphBuilder::times_bodies() const {
  return target_.timestamps.nodes != nullptr || target_.timestamps.bodies != nullptr;
}

std::uint32_t CudaGraphBuilder::add_segment(std::uint32_t first, cudaGraphNode_t before) {
  const std::uint32_t number = segment_of(first);
  const Segment& segment = plan_.lowered.segments[number];
  const std::uint32_t end = segment.first_node + segment.nodes;
  after_.clear();
  for (std::uint32_t node = segment.first_node; node < end; ++node) {
    for (const LoweredEdge& edge : plan_.lowered.edges_into(node))
      if (!segment.contains(edge.from)) after_.push_back(done_[edge.from]);
  }
  if (after_.empty() && before != nullptr) after_.push_back(before);
  remove_repeated_predecessors();
  adding_ = first;
  const std::uint32_t body = target_.outer == nullptr ? kNone : target_.outer->body;
  const CUDA_KERNEL_NODE_PARAMS parameters = timestamps_nodes()
                                                 ? target_.segments->timed_node(number)
                                                 : target_.segments->node(body, number);
  const cudaGraphNode_t made = add_kernel(parameters);
  CUlaunchAttributeValue value = {};
  value.cooperative = 1;  // the blocks wait for each other
  cuda_check(
      context_.driver.cuGraphKernelNodeSetAttribute(made, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
      "cuGraphKernelNodeSetAttribute", call_);
  std::fill(nodes_.begin() + segment.first_node, nodes_.begin() + end, made);
  std::fill(done_.begin() + segment.first_node, done_.begin() + end, made);
  return end - 1;
}

// Several nodes may be in one segment. CUDA refuses a repeated predecessor.
void CudaGraphBuilder::remove_repeated_predecessors() {
  std::unordered_set<cudaGraphNode_t> known;
  std::erase_if(after_, [&](cudaGraphNode_t node) { return !known.insert(node).second; });
}

bool CudaGraphBuilder::is_conditional(std::uint32_t node) const {
  const std::uint32_t command = plan_.command_of(node);
  return command != kNone && plan_.recording->commands[command].kind == CommandKind::Conditional;
}

void CudaGraphBuilder::come_after_last_conditional() {
  if (last_conditional_ != nullptr && !contains(after_, last_conditional_))
    after_.push_back(last_conditional_);
}

// Requires that no instrumentation lies between the two nodes, and compute capability 9.0, the
// first with programmatic launches.
bool CudaGraphBuilder::may_start_programmatically(const LoweredEdge& edge) const {
  return edge.strength == EdgeStrength::Programmatic && target_.markers == nullptr &&
         done_[edge.from] == nodes_[edge.from] && segment_of(edge.from) == kNone &&
         context_.info.compute_major >= 9;
}

void CudaGraphBuilder::add_programmatic_edges(cudaGraphNode_t node) {
  cudaGraphEdgeData data = {};
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  data.type = cudaGraphDependencyTypeProgrammatic;
  for (const cudaGraphNode_t from : early_) {
#if CUDART_VERSION >= 13000
    cuda_check(cudaGraphAddDependencies(target_.graph, &from, &node, &data, 1),
               "cudaGraphAddDependencies", call_);
#else
    cuda_check(cudaGraphAddDependencies_v2(target_.graph, &from, &node, &data, 1),
               "cudaGraphAddDependencies_v2", call_);
#endif
  }
}

cudaGraphNode_t CudaGraphBuilder::add_node(const LoweredNode& node) {
  switch (node.kind) {
    case LoweredKind::Entry:
    case LoweredKind::Exit: return add_boundary(node.kind);
    case LoweredKind::Work: break;
  }
  return add_command(plan_.dependencies.node_command[node.dependency_node]);
}

cudaGraphNode_t CudaGraphBuilder::add_instrumentation_kernel(const CudaKernel& kernel,
                                                             std::span<void*> parameters) {
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = kernel.function();
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = parameters.data();
  return add_kernel(node);
}

cudaGraphNode_t CudaGraphBuilder::add_boundary(LoweredKind kind) {
  const Timestamps& timestamps = target_.timestamps;
  if (timestamps.kernels == nullptr) return add_instrumentation_kernel(*target_.entry_exit, {});
  std::uint64_t* ring = timestamps.ring;
  unsigned long long mask = TimestampRing::mask();
  void* parameters[] = {&ring, &mask};
  return add_instrumentation_kernel(
      kind == LoweredKind::Entry ? *timestamps.kernels->begin : *timestamps.kernels->end,
      parameters);
}

cudaGraphNode_t CudaGraphBuilder::add_node_timestamp(std::uint32_t node) {
  std::uint64_t *ring = target_.timestamps.ring, *times = target_.timestamps.nodes->memory();
  unsigned rows = target_.timestamps.nodes->rows(), nodes = target_.timestamps.nodes->nodes();
  void* parameters[] = {&ring, &times, &rows, &nodes, &node};
  after_.assign(1, done_[node]);
  return add_instrumentation_kernel(*target_.timestamps.kernels->node, parameters);
}

bool CudaGraphBuilder::timestamps_nodes() const {
  const Timestamps& timestamps = target_.timestamps;
  return target_.outer == nullptr
             ? timestamps.nodes != nullptr
             : timestamps.bodies != nullptr && timestamps.bodies->records_times();
}

cudaGraphNode_t CudaGraphBuilder::add_fault_mark(std::uint64_t* word) {
  void* parameters[] = {&word};
  const cudaGraphNode_t mark = add_instrumentation_kernel(target_.markers->kernel(), parameters);
  after_.assign(1, mark);
  return mark;
}

void CudaGraphBuilder::come_after_leaves() {
  after_.clear();
  add_leaves();
}

void CudaGraphBuilder::add_leaves() {
  const LoweredGraph& lowered = plan_.lowered;
  std::vector<bool> is_leaf(lowered.nodes.size(), true);
  for (const LoweredEdge& edge : lowered.edges) is_leaf[edge.from] = false;
  for (std::uint32_t i = 0; i < lowered.nodes.size(); ++i) {
    if (is_leaf[i] && done_[i] != nullptr) after_.push_back(done_[i]);
  }
  if (target_.segments != nullptr) remove_repeated_predecessors();
}

std::uint32_t CudaGraphBuilder::root_beside_start() const {
  if (!can_overlap_start(context_.info) || target_.markers != nullptr) return kNone;
  std::uint32_t root = kNone;
  for (std::uint32_t i = 0; i < plan_.lowered.nodes.size(); ++i) {
    if (!plan_.lowered.edges_into(i).empty()) continue;
    if (root != kNone) return kNone;
    root = i;
  }
  if (root == kNone || segment_of(root) != kNone) return kNone;
  const std::uint32_t command = plan_.command_of(root);
  if (command == kNone || plan_.recording->commands[command].kind != CommandKind::Dispatch)
    return kNone;
  const auto& dispatch = plan_.recording->payload<DispatchPayload>(command);
  return !dispatch.cluster && dispatch.launch != DispatchDesc::Launch::Cooperative ? root : kNone;
}

cudaGraphNode_t CudaGraphBuilder::add_end_timestamp() {
  come_after_leaves();
  return add_boundary(LoweredKind::Exit);
}

cudaGraphNode_t CudaGraphBuilder::add_command(std::uint32_t command) {
  const Recording& recording = *plan_.recording;
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: return add_dispatch(command);
    case CommandKind::Copy: {
      const auto& copy = recording.payload<CopyPayload>(command);
      const auto end = [&](const Endpoint& e) {
        return e.buffer != kNone ? address(e.buffer, e.offset) : static_cast<std::byte*>(e.host);
      };
      const std::byte* source = end(copy.source);
      if (copy.source.is_snapshot()) source = target_.staged.add(first_key_ + command, copy);
      const CopyShape shape{copy.extent, copy.source_pitch, copy.destination_pitch};
      if (target_.copy != nullptr && is_within_device(recording, copy)) {
        CopyLaunch launch(source, end(copy.destination), shape);
        if (launch.is_faster()) return add_kernel(launch.parameters(target_.copy->function()));
      }
      return add_copy(node_context(), source, end(copy.destination), shape);
    }
    case CommandKind::Fill: {
      const auto& fill = recording.payload<FillPayload>(command);
      return add_fill(node_context(), address(fill.buffer, fill.offset), fill);
    }
    case CommandKind::Update: {
      const auto& update = recording.payload<UpdatePayload>(command);
      const Pitch row{update.bytes, update.bytes};
      return add_copy(node_context(),
                      target_.staged.add(first_key_ + command, update.data, update.bytes),
                      address(update.buffer, update.offset), {{update.bytes, 1, 1}, row, row});
    }
    case CommandKind::Host: return add_host(command);
    case CommandKind::Op: return add_op(command);
    case CommandKind::Barrier: return add_join();
    case CommandKind::Nested: return add_nested(command);
    case CommandKind::Conditional: return add_conditional(command);
  }
  return add_empty();
}

cudaGraphNode_t CudaGraphBuilder::add_dispatch(std::uint32_t command) {
  const auto& dispatch = plan_.recording->payload<DispatchPayload>(command);
  const auto& kernel =
      static_cast<const CudaKernel&>(*plan_.recording->kernels[dispatch.kernel]->backend);
  const cudaGraphNode_t node = add_kernel(arguments_.of(plan_, bindings_, command));
  if (dispatch.cluster || dispatch.launch == DispatchDesc::Launch::Cooperative)
    set_launch_attributes(node, dispatch, kernel);
  return node;
}

cudaGraphNode_t CudaGraphBuilder::add_kernel(const CUDA_KERNEL_NODE_PARAMS& parameters) {
  cudaGraphNode_t node = nullptr;
  cuda_check(context_.driver.cuGraphAddKernelNode(&node, target_.graph, after_.data(),
                                                  after_.size(), &parameters),
             "cuGraphAddKernelNode", call_);
  return node;
}

void CudaGraphBuilder::set_launch_attributes(cudaGraphNode_t node, const DispatchPayload& dispatch,
                                             const CudaKernel& kernel) {
  const CudaDriver& driver = context_.driver;
  CUlaunchAttributeValue value = {};
  if (dispatch.cluster) {
    value.clusterDim = {dispatch.cluster->x, dispatch.cluster->y, dispatch.cluster->z};
    CUlaunchAttribute cluster = {};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value = value;
    CUlaunchConfig config = {};
    config.gridDimX = dispatch.grid.x;
    config.gridDimY = dispatch.grid.y;
    config.gridDimZ = dispatch.grid.z;
    config.blockDimX = dispatch.block.x;
    config.blockDimY = dispatch.block.y;
    config.blockDimZ = dispatch.block.z;
    config.sharedMemBytes = dispatch.shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;
    cuda_check(driver.cuOccupancyMaxActiveClusters(&clusters, kernel.function(), &config),
               "cuOccupancyMaxActiveClusters", call_);
    if (clusters == 0)
      throw launch_limits(
          "no cluster of this size, with these threads and this shared memory, fits on the device");
    cuda_check(
        driver.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
        "cuGraphKernelNodeSetAttribute", call_);
  }
  if (dispatch.launch == DispatchDesc::Launch::Cooperative) {
    int per_multiprocessor = 0;
    cuda_check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                   &per_multiprocessor, kernel.function(),
                   static_cast<int>(dispatch.block.volume()), dispatch.shared_bytes),
               "cuOccupancyMaxActiveBlocksPerMultiprocessor", call_);
    const std::uint64_t max_blocks = std::uint64_t{static_cast<std::uint32_t>(per_multiprocessor)} *
                                     context_.info.multiprocessors;
    if (dispatch.grid.volume() > max_blocks) {
      throw launch_limits(concat("a cooperative launch needs all its ", dispatch.grid.volume(),
                                 " blocks resident at once, and ", max_blocks, " fit"));
    }
    value = {};
    value.cooperative = 1;
    cuda_check(driver.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
               "cuGraphKernelNodeSetAttribute", call_);
  }
}

cudaGraphNode_t CudaGraphBuilder::add_host(std::uint32_t command) {
  const auto& host = plan_.recording->payload<HostPayload>(command);
  const cudaHostNodeParams parameters = {
      &HostCallbacks::run,
      target_.callbacks.add(*plan_.recording->functions[host.function], first_key_ + command)};
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddHostNode(&node, target_.graph, after_.data(), after_.size(), &parameters),
             "cudaGraphAddHostNode", call_);
  return node;
}

cudaGraphNode_t CudaGraphBuilder::add_op(std::uint32_t command) {
  const OwnedGraph graph =
      capture_op(context_, *plan_.recording, command, bindings_, target_.retained, op_location());
  if (graph.get() == nullptr) return add_empty();
  cudaGraphNode_t node = nullptr;
  cuda_check(
      cudaGraphAddChildGraphNode(&node, target_.graph, after_.data(), after_.size(), graph.get()),
      "cudaGraphAddChildGraphNode", call_);
  return node;
}

// A remaining barrier. An empty node in its place makes a graph of full layers 2.5 times as slow.
cudaGraphNode_t CudaGraphBuilder::add_join() {
  return target_.entry_exit != nullptr ? add_instrumentation_kernel(*target_.entry_exit, {})
                                       : add_empty();
}

cudaGraphNode_t CudaGraphBuilder::add_empty() {
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddEmptyNode(&node, target_.graph, after_.data(), after_.size()),
             "cudaGraphAddEmptyNode", call_);
  return node;
}

cudaGraphExec_t CudaGraphBuilder::instantiate() const {
  return detail::instantiate(target_.graph, call_,
                             [this](const Error& error, cudaGraphNode_t failed) {
                               const std::uint32_t node = lowered_of(failed);
                               return node == kNone ? error : with_command(error, node);
                             });
}

}  // namespace reprise::detail

#include "backend/cuda/graph/cuda_exec.hpp"

#include <algorithm>

#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/cuda_virtual_allocation.hpp"
#include "backend/cuda/graph/cuda_graph_builder.hpp"
#include "backend/cuda/graph/instantiate_graph.hpp"
#include "backend/cuda/native/native_nodes.hpp"
#include "profile/activity/activity_session.hpp"

namespace reprise::detail {
namespace {

// True if segments contain all commands.
bool times_itself(const LoweredGraph& lowered) {
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    if (lowered.nodes[node].kind == LoweredKind::Work && lowered.segment_of(node) == kNone)
      return false;
  }
  return !lowered.segments.empty();
}

}  // namespace

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
                   const Bindings& bindings, ExecKernels kernels,
                   std::shared_ptr<const CudaInstrumentation> instrumentation, TimedBy nodes_by,
                   std::unique_ptr<const FaultMarkers> markers,
                   std::unique_ptr<const LoopCounters> loops,
                   std::unique_ptr<CudaSegments> segments)
    : context_(std::move(context)),
      plan_(std::move(plan)),
      kernels_(std::move(kernels)),
      markers_(std::move(markers)),
      loops_(std::move(loops)),
      segments_(std::move(segments)),
      resources_(std::make_shared<Resources>(context_, *plan_->recording)),
      timing_(timing_layout(*plan_)),
      bindings_(bindings),
      update_(context_, *plan_->recording, kernels_.copy.get()),
      source_(instrumentation ? std::make_shared<CudaReplaySource>(
                                    context_, instrumentation, nodes_by,
                                    times_itself(plan_->lowered) ? CudaReplaySource::Timing::Cheap
                                                                 : CudaReplaySource::Timing::Costly)
                              : nullptr) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const GatePass pass(ActivitySession::of_process().gate());
  epoch_ = ActivitySession::of_process().epoch();
  try {
    cuda_check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate", context_->at(Stage::Instantiate));
    CudaGraphBuilder::Timestamps timestamps;
    if (source_) timestamps = {&source_->instrumentation(), source_->ring().memory(), nullptr};
    CudaGraphBuilder builder(
        *context_, *plan_, bindings,
        {graph_, resources_->staged, callbacks_, resources_->retained, kernels_.entry_exit.get(),
         kernels_.copy.get(), timestamps, markers_.get(), loops_.get(), nullptr, segments_.get()});
    builder.add_nodes();
    exec_ = builder.instantiate();
    boundary_ = builder.boundary();
    nodes_ = builder.exec_nodes(exec_);
    has_conditionals_ = !nodes_.handles.empty();
    source_nodes_.reset(nodes_.nodes.size());
    update_.disable_all(nodes_, *plan_, bindings_);
  } catch (...) {
    destroy();
    throw;
  }
  if (source_) {
    source_->open({.make = [this](TimedBy by) { return make_clone(by); },
                   .destroy = [this] { drop_clone(); },
                   .is_possible = [this] { return has_mapped_pages(); }});
  }
}

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
                   OwnedGraph graph, std::shared_ptr<const void> owner,
                   std::shared_ptr<const CudaInstrumentation> instrumentation)
    : context_(std::move(context)),
      plan_(std::move(plan)),
      owner_(std::move(owner)),
      resources_(std::make_shared<Resources>()),
      update_(context_, *plan_->recording),
      source_(instrumentation ? std::make_shared<CudaReplaySource>(context_, instrumentation,
                                                                   TimedBy::Timestamp)
                              : nullptr) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const GatePass pass(ActivitySession::of_process().gate());
  epoch_ = ActivitySession::of_process().epoch();
  try {
    const CallContext call = context_->at(Stage::Instantiate, plan_->label);
    graph_ = graph.release();
    if (source_)
      boundary_ = add_boundary_timestamps(*context_, graph_, source_->instrumentation(),
                                          source_->ring().memory(), call);
    exec_ = instantiate(graph_, call);
    const NativeNodes nodes = native_nodes(*context_, graph_, call);
    has_conditionals_ = std::any_of(
        nodes.nodes.begin(), nodes.nodes.end(),
        [](const NativeNode& node) { return node.type == CU_GRAPH_NODE_TYPE_CONDITIONAL; });
  } catch (...) {
    destroy();
    throw;
  }
}

CudaExec::~CudaExec() {
  if (source_) source_->close();
  const GatePass pass(ActivitySession::of_process().gate());
  destroy();
}

std::vector<UnfinishedNode> CudaExec::unfinished_nodes() const {
  if (!markers_) return {};
  std::vector<UnfinishedNode> found = markers_->unfinished();
  if (segments_) {
    const std::vector<UnfinishedNode> in_segments = segments_->unfinished();
    found.insert(found.end(), in_segments.begin(), in_segments.end());
  }
  return found;
}

std::vector<ActivityTimes::HostNode> CudaExec::time_host_nodes() {
  std::vector<ActivityTimes::HostNode> host;
  for (std::uint32_t node = 0; node < plan_->lowered.nodes.size(); ++node) {
    const std::uint32_t command = plan_->command_of(node);
    if (command != kNone && plan_->recording->commands[command].kind == CommandKind::Host)
      host.push_back({node, callbacks_.time(command)});
  }
  return host;
}

CudaReplaySource::ProfilingClone CudaExec::make_clone(TimedBy nodes_by) {
  const GatePass pass(ActivitySession::of_process().gate());
  const SetupScope scope(*context_, Stage::Profile);
  const std::lock_guard lock(changing_);
  const CudaInstrumentation& instrumentation = source_->instrumentation();
  std::unique_ptr<NodeTimestamps> timestamps;
  std::unique_ptr<BodyTimestamps> iterations;  // only with CUPTI
  std::unique_ptr<NodeTimer> nodes;
  if (nodes_by == TimedBy::Cupti)
    iterations = BodyTimestamps::make(context_, instrumentation.readback, *plan_, timing_,
                                      BodyTimestamps::Keep::Iterations);
  if (nodes_by != TimedBy::Cupti)
    timestamps =
        std::make_unique<NodeTimestamps>(context_, instrumentation.readback, *plan_, timing_);
  if (timestamps && timestamps->segments() != nullptr)
    segments_->time(*plan_, *timestamps->segments(), source_->ring().memory());
  const CallContext call = context_->at(Stage::Profile, plan_->label);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t clone = nullptr;
  ExecNodes clone_nodes;
  cuda_check(cudaGraphCreate(&graph, 0), "cudaGraphCreate", call);
  try {
    const BodyTimestamps* const in_bodies = timestamps ? timestamps->bodies() : iterations.get();
    CudaGraphBuilder builder(
        *context_, *plan_, bindings_,
        {graph,
         resources_->staged,
         callbacks_,
         resources_->retained,
         kernels_.entry_exit.get(),
         kernels_.copy.get(),
         {&instrumentation, source_->ring().memory(), timestamps.get(), in_bodies},
         markers_.get(),
         loops_.get(),
         nullptr,
         segments_.get()});
    builder.add_nodes();
    if (timestamps) {
      nodes = std::move(timestamps);
    } else {
      const bool has_slots = timing_.has_same_nodes(timing_layout(*plan_));
      const auto bodies = has_slots ? builder.bodies() : std::span<const BodyGraph>();
      const ActivityTimes::Graph timed{graph, plan_->lowered, builder.nodes(), bodies,
                                       builder.boundary()};
      nodes = std::make_unique<ActivityTimes>(ActivitySession::of_process(), timed, timing_,
                                              std::move(iterations), time_host_nodes());
    }
    clone = builder.instantiate();
    clone_nodes = builder.exec_nodes(clone);
    update_.disable_all(clone_nodes, *plan_, bindings_);
    transfer(clone, Stage::Profile);
  } catch (...) {
    if (clone != nullptr) cuda_ignore(cudaGraphExecDestroy(clone));
    cuda_ignore(cudaGraphDestroy(graph));
    throw;
  }
  clone_graph_ = graph;  // kept because updates name nodes of the source graph
  clone_nodes_ = std::move(clone_nodes);
  return {clone, std::move(nodes)};
}

bool CudaExec::has_mapped_pages() const {
  const std::lock_guard lock(changing_);
  return !UnmappedRanges::of_process().contains_any(bindings_.address);
}

void CudaExec::destroy() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  destroy_clone();
  if (exec_ != nullptr) cuda_ignore(cudaGraphExecDestroy(exec_));
  if (graph_ != nullptr) cuda_ignore(cudaGraphDestroy(graph_));
}

void CudaExec::destroy_clone() noexcept {
  if (clone_nodes_.exec != nullptr) cuda_ignore(cudaGraphExecDestroy(clone_nodes_.exec));
  if (clone_graph_ != nullptr) cuda_ignore(cudaGraphDestroy(clone_graph_));
  clone_nodes_ = {};
  clone_graph_ = nullptr;
}

void CudaExec::drop_clone() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  const std::lock_guard lock(changing_);
  if (scope) destroy_clone();
}

cudaGraph_t CudaExec::clone_graph() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  const std::lock_guard lock(changing_);
  // The entry and exit kernels contain timestamps that are for this graph's replays only.
  const bool entry_exit_timestamps = source_ && plan_->lowered.entry_exit.any();
  const bool must_be_rebuilt = is_changed_ || entry_exit_timestamps || segments_ ||
                               !nodes_.handles.empty();  // CUDA clones no conditionals
  if (must_be_rebuilt) return rebuild_graph().release();
  cudaGraph_t copy = nullptr;
  const CallContext call = context_->at(Stage::Instantiate, plan_->label);
  cuda_check(cudaGraphClone(&copy, graph_), "cudaGraphClone", call);
  try {
    if (boundary_) remove_boundary_timestamps(copy, boundary_, call);
  } catch (...) {
    cuda_ignore(cudaGraphDestroy(copy));
    throw;
  }
  return copy;
}

std::uint32_t CudaExec::node_count() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes",
             context_->at(Stage::Instantiate, plan_->label));
  return static_cast<std::uint32_t>(count - boundary_.count());
}

void CudaExec::upload(BackendQueue& queue) {
  const GatePass pass(ActivitySession::of_process().gate());
  const SetupScope scope(*context_, Stage::Upload);
  static_cast<CudaQueue&>(queue).require_stream(Stage::Upload);
  transfer_exec(Stage::Upload);
}

void CudaExec::transfer_exec(Stage stage) {
  transfer(exec_, stage);
  epoch_ = ActivitySession::of_process().epoch();
}

// With CUDA 13.0 and driver 580, a launch that closely follows cuGraphUpload can run the previous
// contents of the executable's memory, mostly while several processes use the GPU: replays never
// end or fail. Waiting for the upload's stream makes that rare; with a kernel there afterwards it
// was never observed, nor with the upload that the first launch does by itself.
void CudaExec::transfer(cudaGraphExec_t exec, Stage stage) const {
  const SetupScope scope(*context_, stage);
  const CudaMemoryPools& pools = *context_->pools;
  const CallContext call = context_->at(stage, plan_->label);
  cuda_check(context_->driver.cuGraphUpload(exec, pools.stream()), "cuGraphUpload", call);
  const CudaMemory word(context_, BufferKind::Device, sizeof(std::uint64_t), stage, "an upload");
  pools.clear(word.bytes(), sizeof(std::uint64_t), call);
}

void CudaExec::switch_timestamps() {
  const SetupScope scope(*context_, Stage::Launch);
  const TimestampMode mode = source_->timestamp_mode();
  set_timestamp_mode(exec_, boundary_, mode, context_->at(Stage::Launch, plan_->label));
  timestamp_mode_ = mode;
}

std::uint64_t CudaExec::launch(BackendQueue& queue) {
  const GatePass pass(ActivitySession::of_process().gate());
  // Also before launches of the clone, so that no transfer runs beside the replays that it times.
  if (ActivitySession::of_process().epoch() != epoch_) [[unlikely]]
    transfer_exec(Stage::Launch);
  CUgraphExec exec = nullptr;
  bool is_timestamped = false;
  if (source_) {
    // Runs once after each change of the mode, on the launching thread: an executable must not be
    // changed during its launches.
    if (boundary_ && source_->timestamp_mode() != timestamp_mode_) [[unlikely]]
      switch_timestamps();
    exec = source_->take_clone(timestamped_ + 1);
    is_timestamped = exec != nullptr || timestamp_mode_ == TimestampMode::On;
    if (is_timestamped && launches_ - timestamped_ != skipped_) [[unlikely]] {
      skipped_ = launches_ - timestamped_;
      source_->numbers().skip(timestamped_ + 1, skipped_);
    }
  }
  if (exec == nullptr) exec = exec_;
  if (segments_ && segments_->has_changes()) [[unlikely]]
    segments_->send_changes(static_cast<CudaQueue&>(queue));
  auto& on = static_cast<CudaQueue&>(queue);
  const std::uint64_t serial = has_conditionals_ ? on.launch_conditional(exec) : on.launch(exec);
  ++launches_;
  if (is_timestamped) ++timestamped_;
  return serial;
}

}  // namespace reprise::detail

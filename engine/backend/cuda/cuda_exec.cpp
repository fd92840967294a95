#include "backend/cuda/cuda_exec.hpp"

#include "backend/cuda/cuda_pages.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "profile/activity/activity_session.hpp"
#include "backend/cuda/cuda_graph_builder.hpp"

namespace reprise::detail {

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, const Bindings& bindings,
                   std::shared_ptr<const CudaKernel> frame, std::shared_ptr<const CudaInstruments> instruments,
                   TimedBy nodes_by, std::unique_ptr<const FaultMarkers> markers, std::unique_ptr<const LoopCounters> loops)
    : context_(std::move(context)),
      plan_(std::move(plan)),
      frame_(std::move(frame)),
      markers_(std::move(markers)),
      loops_(std::move(loops)),
      held_(std::make_shared<Held>(context_, *plan_->recording)),
      slots_(time_slots(*plan_)),
      bindings_(bindings),
      update_(*context_, *plan_->recording),
      source_(instruments ? std::make_shared<CudaReplaySource>(context_, instruments, nodes_by) : nullptr) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const GatePass pass(ActivitySession::of_process().gate());
  epoch_ = ActivitySession::of_process().epoch();
  try {
    cuda_check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate", context_->at(Stage::Instantiate));
    CudaGraphBuilder::Stamps stamps;
    if (source_) stamps = {&source_->instruments(), source_->ring().memory(), nullptr};
    CudaGraphBuilder builder(*context_, *plan_, bindings,
                             {graph_, held_->staged, calls_, held_->holdings, frame_.get(), stamps, markers_.get(), loops_.get()});
    builder.add_nodes();
    exec_ = builder.instantiate();
    ends_ = builder.ends();
    fast_nodes_ = builder.take_nodes(exec_);
    source_nodes_.reset(fast_nodes_.nodes.size());
    update_.disable_all(fast_nodes_, bindings_);
  } catch (...) {
    destroy();
    throw;
  }
  if (source_) {
    source_->open({.make = [this](TimedBy by) { return make_twin(by); }, .destroy = [this] { drop_twin(); }, .is_possible = [this] { return has_pages(); }});
  }
}

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, OwnedGraph graph, std::shared_ptr<const void> owner,
                   std::shared_ptr<const CudaInstruments> instruments)
    : context_(std::move(context)),
      plan_(std::move(plan)),
      owner_(std::move(owner)),
      held_(std::make_shared<Held>()),
      update_(*context_, *plan_->recording),
      source_(instruments ? std::make_shared<CudaReplaySource>(context_, instruments, TimedBy::Stamp) : nullptr) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const GatePass pass(ActivitySession::of_process().gate());
  epoch_ = ActivitySession::of_process().epoch();
  try {
    const CallPlace place = context_->at(Stage::Instantiate, plan_->label);
    graph_ = graph.release();
    if (source_) ends_ = add_stamp_ends(*context_, graph_, source_->instruments(), source_->ring().memory(), place);
    cudaGraphInstantiateParams parameters = {};
    cuda_check(cudaGraphInstantiateWithParams(&exec_, graph_, &parameters), "cudaGraphInstantiateWithParams", place);
  } catch (...) {
    destroy();
    throw;
  }
}

CudaExec::~CudaExec() {
  if (source_) source_->close();
  destroy();
}

std::vector<ActivityTimes::HostNode> CudaExec::time_host_nodes() {
  std::vector<ActivityTimes::HostNode> host;
  for (std::uint32_t node = 0; node < plan_->lowered.nodes.size(); ++node) {
    const std::uint32_t command = plan_->command_of(node);
    if (command != kNone && plan_->recording->commands[command].kind == CommandKind::Host) host.push_back({node, calls_.time(command)});
  }
  return host;
}

CudaReplaySource::Twin CudaExec::make_twin(TimedBy nodes_by) {
  const SetupScope scope(*context_, Stage::Profile);
  const std::lock_guard lock(changing_);
  const CudaInstruments& instruments = source_->instruments();
  std::unique_ptr<NodeStamps> stamps;
  std::unique_ptr<BodyStamps> rounds;  // beside CUPTI
  std::unique_ptr<NodeTimer> nodes;
  if (nodes_by == TimedBy::Cupti) rounds = BodyStamps::make(context_, instruments.readback, *plan_, slots_, BodyStamps::Keep::Rounds);
  if (nodes_by != TimedBy::Cupti) stamps = std::make_unique<NodeStamps>(context_, instruments.readback, *plan_, slots_);
  const CallPlace place = context_->at(Stage::Profile, plan_->label);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t twin = nullptr;
  ExecNodes twin_nodes;
  cuda_check(cudaGraphCreate(&graph, 0), "cudaGraphCreate", place);
  try {
    const BodyStamps* const in_bodies = stamps ? stamps->bodies() : rounds.get();
    CudaGraphBuilder builder(*context_, *plan_, bindings_,
                             {graph, held_->staged, calls_, held_->holdings, frame_.get(),
                              {&instruments, source_->ring().memory(), stamps.get(), in_bodies}, markers_.get(), loops_.get()});
    builder.add_nodes();
    if (stamps) {
      nodes = std::move(stamps);
    } else {
      const bool has_slots = slots_.has_same_nodes(time_slots(*plan_));
      const auto bodies = has_slots ? builder.bodies() : std::span<const BodyGraph>();
      const ActivityTimes::Graph timed{graph, plan_->lowered, builder.nodes(), bodies, builder.ends()};
      nodes = std::make_unique<ActivityTimes>(ActivitySession::of_process(), timed, slots_, std::move(rounds), time_host_nodes());
    }
    twin = builder.instantiate();
    twin_nodes = builder.take_nodes(twin);
    update_.disable_all(twin_nodes, bindings_);
    cuda_check(context_->driver.cuGraphUpload(twin, instruments.readback->stream()), "cuGraphUpload", place);
    instruments.readback->wait();
  } catch (...) {
    if (twin != nullptr) cuda_ignore(cudaGraphExecDestroy(twin));
    cuda_ignore(cudaGraphDestroy(graph));
    throw;
  }
  twin_graph_ = graph;  // names its nodes when they change
  twin_nodes_ = std::move(twin_nodes);
  return {twin, std::move(nodes)};
}

bool CudaExec::has_pages() const {
  const std::lock_guard lock(changing_);
  return !GonePages::of_process().has_any(bindings_.address);
}

void CudaExec::destroy() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  destroy_twin();
  if (exec_ != nullptr) cuda_ignore(cudaGraphExecDestroy(exec_));
  if (graph_ != nullptr) cuda_ignore(cudaGraphDestroy(graph_));
}

void CudaExec::destroy_twin() noexcept {
  if (twin_nodes_.exec != nullptr) cuda_ignore(cudaGraphExecDestroy(twin_nodes_.exec));
  if (twin_graph_ != nullptr) cuda_ignore(cudaGraphDestroy(twin_graph_));
  twin_nodes_ = {};
  twin_graph_ = nullptr;
}

void CudaExec::drop_twin() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  const std::lock_guard lock(changing_);
  if (scope) destroy_twin();
}

cudaGraph_t CudaExec::clone_graph() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  const std::lock_guard lock(changing_);
  const bool frame_stamps = source_ && plan_->lowered.frame.any();  // stamps that are there for this graph's replays alone
  if (is_changed_ || frame_stamps) return build_again().release();
  cudaGraph_t copy = nullptr;
  const CallPlace place = context_->at(Stage::Instantiate, plan_->label);
  cuda_check(cudaGraphClone(&copy, graph_), "cudaGraphClone", place);
  try {
    if (ends_) remove_stamp_ends(copy, ends_, place);
  } catch (...) {
    cuda_ignore(cudaGraphDestroy(copy));
    throw;
  }
  return copy;
}

std::uint32_t CudaExec::node_count() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes", context_->at(Stage::Instantiate, plan_->label));
  return static_cast<std::uint32_t>(count - ends_.count());
}

void CudaExec::upload(BackendQueue& queue) {
  const GatePass pass(ActivitySession::of_process().gate());
  follow_epoch();
  static_cast<CudaQueue&>(queue).upload(exec_);
  uploaded_ = true;
}

void CudaExec::follow_epoch() noexcept {
  const std::uint32_t epoch = ActivitySession::of_process().epoch();
  if (epoch != epoch_) [[unlikely]]
    uploaded_ = false;
  epoch_ = epoch;
}

void CudaExec::switch_stamps() {
  const SetupScope scope(*context_, Stage::Launch);
  const Stamping wanted = source_->stamping();
  set_stamping(exec_, ends_, wanted, context_->at(Stage::Launch, plan_->label));
  stamping_ = wanted;
}

std::uint64_t CudaExec::launch(BackendQueue& queue) {
  const GatePass pass(ActivitySession::of_process().gate());
  follow_epoch();
  CUgraphExec exec = nullptr;
  bool is_stamped = false;
  if (source_) {
    // Once after each change of the mode, by whoever launches first: an executable is not to be changed beside its launches.
    if (ends_ && source_->stamping() != stamping_) [[unlikely]]
      switch_stamps();
    exec = source_->take_twin(stamped_ + 1);
    is_stamped = exec != nullptr || stamping_ == Stamping::On;
    if (is_stamped && launches_ - stamped_ != skipped_) [[unlikely]] {
      skipped_ = launches_ - stamped_;
      source_->numbers().skip(stamped_ + 1, skipped_);
    }
  }
  if (exec == nullptr) {
    // A first launch moves the graph to the device in any case; asked for by name, CUDA does it faster.
    if (!uploaded_) {
      static_cast<CudaQueue&>(queue).upload(exec_);
      uploaded_ = true;
    }
    exec = exec_;
  }
  const std::uint64_t serial = static_cast<CudaQueue&>(queue).launch(exec);
  ++launches_;
  if (is_stamped) ++stamped_;
  return serial;
}

}  // namespace reprise::detail

#include "backend/cuda/cuda_exec.hpp"

#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/graph_builder.hpp"

namespace reprise::detail {

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, const Bindings& bindings,
                   std::shared_ptr<const CudaKernel> frame, std::shared_ptr<const CudaInstruments> instruments)
    : context_(std::move(context)),
      plan_(std::move(plan)),
      frame_(std::move(frame)),
      staged_(context_, *plan_->recording),
      bindings_(instruments ? bindings : Bindings{}),
      source_(instruments ? std::make_shared<CudaReplaySource>(context_, instruments) : nullptr) {
  const SetupScope scope(*context_, Stage::Instantiate);
  try {
    cuda_check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate", context_->at(Stage::Instantiate));
    GraphBuilder::Stamps stamps;
    if (source_) stamps = {&source_->instruments(), source_->ring().memory(), nullptr};
    GraphBuilder builder(*context_, *plan_, bindings, {graph_, staged_, calls_, frame_.get(), stamps});
    builder.add_nodes();
    exec_ = builder.instantiate();
  } catch (...) {
    destroy();
    throw;
  }
  if (source_) source_->open([this] { return make_twin(); });
}

CudaExec::CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, CUgraph graph, std::shared_ptr<const void> owner)
    : context_(std::move(context)), plan_(std::move(plan)), owner_(std::move(owner)) {
  const SetupScope scope(*context_, Stage::Instantiate);
  try {
    cuda_check(cudaGraphClone(&graph_, graph), "cudaGraphClone", context_->at(Stage::Instantiate, plan_->label));
    cudaGraphInstantiateParams parameters = {};
    cuda_check(cudaGraphInstantiateWithParams(&exec_, graph_, &parameters), "cudaGraphInstantiateWithParams",
               context_->at(Stage::Instantiate, plan_->label));
  } catch (...) {
    destroy();
    throw;
  }
}

CudaExec::~CudaExec() {
  if (source_) source_->close();
  destroy();
}

CudaReplaySource::Twin CudaExec::make_twin() {
  const SetupScope scope(*context_, Stage::Profile);
  const CudaInstruments& instruments = source_->instruments();
  auto nodes = std::make_unique<NodeStamps>(context_, instruments.readback, plan_->lowered);
  const CallPlace place = context_->at(Stage::Profile, plan_->label);
  cudaGraph_t graph = nullptr;
  cuda_check(cudaGraphCreate(&graph, 0), "cudaGraphCreate", place);
  try {
    GraphBuilder builder(*context_, *plan_, bindings_,
                         {graph, staged_, calls_, frame_.get(), {&instruments, source_->ring().memory(), nodes.get()}});
    builder.add_nodes();
    twin_ = builder.instantiate();
    cuda_check(context_->driver.cuGraphUpload(twin_, instruments.readback->stream()), "cuGraphUpload", place);
    instruments.readback->wait();
  } catch (...) {
    cuda_ignore(cudaGraphDestroy(graph));
    throw;
  }
  cuda_ignore(cudaGraphDestroy(graph));
  return {twin_, std::move(nodes)};
}

void CudaExec::destroy() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  if (twin_ != nullptr) cuda_ignore(cudaGraphExecDestroy(twin_));
  if (exec_ != nullptr) cuda_ignore(cudaGraphExecDestroy(exec_));
  if (graph_ != nullptr) cuda_ignore(cudaGraphDestroy(graph_));
}

cudaGraph_t CudaExec::clone_graph() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  cudaGraph_t copy = nullptr;
  cuda_check(cudaGraphClone(&copy, graph_), "cudaGraphClone", context_->at(Stage::Instantiate, plan_->label));
  return copy;
}

std::uint32_t CudaExec::node_count() const {
  const SetupScope scope(*context_, Stage::Instantiate);
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes", context_->at(Stage::Instantiate, plan_->label));
  return static_cast<std::uint32_t>(count);
}

void CudaExec::upload(BackendQueue& queue) {
  static_cast<CudaQueue&>(queue).upload(exec_);
  uploaded_ = true;
}

std::uint64_t CudaExec::launch(BackendQueue& queue) {
  CUgraphExec exec = source_ ? source_->take_twin(launches_ + 1) : nullptr;
  if (exec == nullptr) {
    // A first launch moves the graph to the device in any case; asked for by name, CUDA does it faster.
    if (!uploaded_) upload(queue);
    exec = exec_;
  }
  const std::uint64_t serial = static_cast<CudaQueue&>(queue).launch(exec);
  ++launches_;
  return serial;
}

}  // namespace reprise::detail

#include "backend/cuda/graph/op_capture.hpp"

#include <reprise/graph_op.hpp>

#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/native/native_op.hpp"
#include "base/text.hpp"
#include "record/rank_agreement.hpp"
#include "record/recording.hpp"

namespace reprise::detail {
namespace {

// CUDA allows no others in the bodies of conditionals, besides conditionals.
bool may_be_in_conditional(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeEmpty ||
         type == cudaGraphNodeTypeGraph;
}

// Why a collective captures a node of this type.
std::string_view cause_in_collective(cudaGraphNodeType type) {
  if (type == cudaGraphNodeTypeHost)
    return " (NCCL needs the host to move the data, as between machines, or between GPUs without "
           "peer access)";
  if (type == cudaGraphNodeTypeEventRecord || type == cudaGraphNodeTypeWaitEvent)
    return " (NCCL captures events unless NCCL_GRAPH_MIXING_SUPPORT is 0)";
  return {};
}

// A stream that is captured from its first use on. The destructor abandons an unfinished capture.
class OpCapture final : public OpTarget {
 public:
  OpCapture(const CudaContext& context, const Recording& recording, std::uint32_t command,
            const Bindings& bindings, RetainedResources& retained, OpLocation location)
      : context_(context),
        op_(*recording.ops[recording.payload<OpPayload>(command).op]),
        bindings_(bindings),
        retained_(retained),
        location_(location),
        name_(concat("op ", op_.name)),
        call_(context.at(Stage::Instantiate, name_)) {}
  OpCapture(const OpCapture&) = delete;
  OpCapture& operator=(const OpCapture&) = delete;
  ~OpCapture() override {
    if (stream_ == nullptr) return;
    if (is_capturing_) abandon();
    cuda_ignore(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] const DeviceLimits& limits() const noexcept override {
    return context_.info.limits;
  }
  [[nodiscard]] std::byte* address(std::uint32_t buffer) const override {
    return bindings_.address[buffer];
  }

  void dispatch(const KernelCore& core, const DispatchDesc& desc,
                std::span<const std::byte> parameters) override {
    const auto& kernel = static_cast<const CudaKernel&>(*core.backend);
    if (desc.shared_bytes != 0) kernel.allow_shared_bytes(desc.shared_bytes);
    std::vector<void*> list;
    list.reserve(core.parameters.size());
    for (const KernelParameter& parameter : core.parameters)
      list.push_back(const_cast<std::byte*>(parameters.data() + parameter.offset));
    cuda_check(context_.driver.cuLaunchKernel(
                   kernel.function(), desc.grid.x, desc.grid.y, desc.grid.z, desc.block.x,
                   desc.block.y, desc.block.z, desc.shared_bytes,
                   static_cast<CUstream>(native_stream()), list.data(), nullptr),
               "cuLaunchKernel", call_);
  }

  // Unused: GraphRecordCtx refuses host steps on a GPU.
  void host(std::function<void(std::uint32_t)>, std::uint32_t) override {}
  void host_async(std::function<void(std::function<void(std::exception_ptr)>)>) override {}

  [[nodiscard]] void* native_stream() override {
    if (stream_ == nullptr) {
      cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags", call_);
      cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCapture", call_);
      is_capturing_ = true;
    }
    return stream_;
  }

  void keep(std::shared_ptr<const void> thing) override { retained_.push_back(std::move(thing)); }

  [[nodiscard]] OwnedGraph end() {
    if (stream_ == nullptr) return OwnedGraph();
    cudaGraph_t graph = nullptr;
    is_capturing_ = false;
    const cudaError_t result = cudaStreamEndCapture(stream_, &graph);
    if (result != cudaSuccess) {
      throw_cuda_error(
          NativeApi::Runtime, result, "cudaStreamEndCapture", call_,
          "the op made a call that cannot be captured, or did not join a stream that it forked");
    }
    OwnedGraph owned(graph);
    return check(graph) == 0 ? OwnedGraph() : std::move(owned);
  }

 private:
  void abandon() noexcept {
    cudaGraph_t graph = nullptr;
    cuda_ignore(cudaStreamEndCapture(stream_, &graph));
    if (graph != nullptr) cuda_ignore(cudaGraphDestroy(graph));
  }

  // Returns the number of nodes. Refuses memory nodes and conditionals: CUDA does not allow them in
  // child graphs.
  // Refuses what the location cannot contain.
  std::size_t check(cudaGraph_t graph) const {
    std::size_t count = 0;
    cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", call_);
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0)
      cuda_check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes", call_);
    for (const cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
      cuda_check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType", call_);
      if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)
        refuse_memory(type == cudaGraphNodeTypeMemAlloc);
      if (type == cudaGraphNodeTypeConditional) refuse_conditional();
      if (location_ == OpLocation::Conditional && !may_be_in_conditional(type))
        refuse_in_conditional(type);
      if (type != cudaGraphNodeTypeGraph) continue;
      cudaGraph_t child = nullptr;
      cuda_check(cudaGraphChildGraphNodeGetGraph(node, &child), "cudaGraphChildGraphNodeGetGraph",
                 call_);
      static_cast<void>(check(child));
    }
    return count;
  }

  [[noreturn]] void refuse(const std::string& text) const {
    ErrorDetails details;
    details.code = ErrorCode::Unsupported;
    details.stage = Stage::Instantiate;
    throw Error(std::move(details), concat(name_, text));
  }
  [[noreturn]] void refuse_memory(bool allocates) const {
    refuse(concat(allocates ? " allocates" : " frees",
                  " memory while it records; declare a workspace for it"));
  }
  [[noreturn]] void refuse_conditional() const {
    refuse(
        " captures a conditional node, which a child graph cannot contain; record the branches "
        "with execute_if, execute_while or execute_switch");
  }
  [[noreturn]] void refuse_in_conditional(cudaGraphNodeType type) const {
    refuse(concat(" captures a node of the kind ", name_of(static_cast<CUgraphNodeType>(type)),
                  ranks_of(*op_.op) != nullptr ? cause_in_collective(type) : std::string_view(),
                  ", which the body of a conditional cannot contain; launch each iteration from "
                  "the host"));
  }

  const CudaContext& context_;
  const RecordedOp& op_;
  const Bindings& bindings_;
  RetainedResources& retained_;
  const OpLocation location_;
  const std::string name_;
  const CallContext call_;
  cudaStream_t stream_ = nullptr;
  bool is_capturing_ = false;
};

}  // namespace

OwnedGraph capture_op(const CudaContext& context, const Recording& recording, std::uint32_t command,
                      const Bindings& bindings, RetainedResources& retained, OpLocation location) {
  OpCapture capture(context, recording, command, bindings, retained, location);
  record_op(recording, command, capture);
  return capture.end();
}

}  // namespace reprise::detail

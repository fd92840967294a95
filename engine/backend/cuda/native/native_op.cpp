#include "backend/cuda/native/native_op.hpp"

#include <string>
#include <utility>

#include <reprise/graph_op.hpp>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

class NativeOp final : public GraphOp {
 public:
  NativeOp(std::string name, std::string parameters)
      : name_(std::move(name)), parameters_(std::move(parameters)) {}

  [[nodiscard]] std::string_view op_name() const noexcept override { return name_; }
  [[nodiscard]] std::string parameters() const override { return parameters_; }
  void declare(GraphOpDeclaration&) const override { refuse(); }
  void record(GraphRecordCtx&) const override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error({.code = ErrorCode::Unsupported, .stage = Stage::Instantiate},
                concat("a ", name_, " node of an adopted graph can only run in that graph"));
  }

  std::string name_, parameters_;
};

// A number from 1 for each key, in order of first use.
std::size_t number_of(std::unordered_map<std::uint64_t, std::size_t>& numbers, std::uint64_t key) {
  return numbers.try_emplace(key, numbers.size() + 1).first->second;
}

}  // namespace

std::string_view name_of(CUgraphNodeType type) noexcept {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "memory copy";
    case CU_GRAPH_NODE_TYPE_MEMSET: return "memory set";
    case CU_GRAPH_NODE_TYPE_HOST: return "host callback";
    case CU_GRAPH_NODE_TYPE_GRAPH: return "empty child graph";
    case CU_GRAPH_NODE_TYPE_EMPTY: return "empty";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return "event wait";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "event record";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: return "semaphore signal";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return "semaphore wait";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return "memory allocation";
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return "memory release";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "memory operations";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return "conditional";
    default: return "node of an unknown kind";
  }
}

std::string NativeOps::event_of(const NativeNode& node) {
  CUevent event = nullptr;
  const CUresult result = node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD
                              ? context_.driver.cuGraphEventRecordNodeGetEvent(node.node, &event)
                              : context_.driver.cuGraphEventWaitNodeGetEvent(node.node, &event);
  if (result != CUDA_SUCCESS) return {};
  return concat("event ", number_of(events_, reinterpret_cast<std::uintptr_t>(event)));
}

template <class Parameters>
std::string NativeOps::semaphores_of(const Parameters& parameters) {
  std::string text;
  for (unsigned i = 0; i < parameters.numExtSems; ++i) {
    text +=
        concat(i == 0 ? "" : ", ", "semaphore ",
               number_of(semaphores_, reinterpret_cast<std::uintptr_t>(parameters.extSemArray[i])),
               " value ", parameters.paramsArray[i].params.fence.value);
  }
  return text;
}

// Contains no addresses, so that texts and hashes are the same in every run.
std::string NativeOps::parameters_of(const NativeNode& node) {
  const CudaDriver& driver = context_.driver;
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return event_of(node);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS p = {};
      if (driver.cuGraphMemAllocNodeGetParams(node.node, &p) != CUDA_SUCCESS) return {};
      return concat(p.bytesize, " bytes, allocation ", number_of(allocations_, p.dptr));
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: {
      CUdeviceptr address = 0;
      if (driver.cuGraphMemFreeNodeGetParams(node.node, &address) != CUDA_SUCCESS) return {};
      const auto known = allocations_.find(address);
      return known == allocations_.end() ? "of an allocation outside the graph"
                                         : concat("allocation ", known->second);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
      CUDA_EXT_SEM_SIGNAL_NODE_PARAMS p = {};
      return driver.cuGraphExternalSemaphoresSignalNodeGetParams(node.node, &p) == CUDA_SUCCESS
                 ? semaphores_of(p)
                 : std::string();
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
      CUDA_EXT_SEM_WAIT_NODE_PARAMS p = {};
      return driver.cuGraphExternalSemaphoresWaitNodeGetParams(node.node, &p) == CUDA_SUCCESS
                 ? semaphores_of(p)
                 : std::string();
    }
    default: return {};  // the driver returns no parameters
  }
}

std::shared_ptr<const RecordedOp> NativeOps::make(const NativeNode& node) {
  auto recorded = std::make_shared<RecordedOp>();
  recorded->name = name_of(node.type);
  recorded->parameters = parameters_of(node);
  recorded->op = std::make_shared<const NativeOp>(recorded->name, recorded->parameters);
  return recorded;
}

}  // namespace reprise::detail

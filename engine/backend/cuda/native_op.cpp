#include "backend/cuda/native_op.hpp"

#include <string>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

class NativeOp final : public GraphOp {
 public:
  NativeOp(std::string name, std::string parameters) : name_(std::move(name)), parameters_(std::move(parameters)) {}

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

std::string_view name_of(CUgraphNodeType type) {
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

// What is the same on every run, so that hashes are too: no address.
std::string parameters_of(const CudaContext& context, const NativeNode& node) {
  if (node.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) return {};
  CUDA_MEM_ALLOC_NODE_PARAMS p = {};
  if (context.driver.cuGraphMemAllocNodeGetParams(node.node, &p) != CUDA_SUCCESS) return {};
  return concat(p.bytesize, " bytes");
}

}  // namespace

std::shared_ptr<const RecordedOp> native_op(const CudaContext& context, const NativeNode& node) {
  auto recorded = std::make_shared<RecordedOp>();
  recorded->name = name_of(node.type);
  recorded->parameters = parameters_of(context, node);
  recorded->op = std::make_shared<const NativeOp>(recorded->name, recorded->parameters);
  return recorded;
}

}  // namespace reprise::detail

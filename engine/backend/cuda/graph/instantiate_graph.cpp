#include "backend/cuda/graph/instantiate_graph.hpp"

#include "base/text.hpp"

namespace reprise::detail {

std::string describe(cudaGraphInstantiateResult result, std::size_t nodes) {
  const auto reason = [result]() -> std::string_view {
    switch (result) {
      case cudaGraphInstantiateSuccess: return "no reason is known";
      case cudaGraphInstantiateError: return "the error code is the only reason";
      case cudaGraphInstantiateInvalidStructure: return "its structure is invalid";
      case cudaGraphInstantiateNodeOperationNotSupported:
        return "a node has an unsupported operation";
      case cudaGraphInstantiateMultipleDevicesNotSupported:
        return "it has nodes of several devices";
      case cudaGraphInstantiateConditionalHandleUnused:
        return "a conditional handle decides no conditional node";
    }
    return "the reason is newer than this build";
  };
  return concat("the graph of ", nodes, nodes == 1 ? " node" : " nodes",
                " cannot be instantiated: ", reason(), " (result ", static_cast<int>(result), ")");
}

cudaGraphExec_t instantiate(cudaGraph_t graph, const CallContext& call,
                            const std::function<Error(const Error&, cudaGraphNode_t)>& name) {
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams parameters = {};
  const cudaError_t result = cudaGraphInstantiateWithParams(&exec, graph, &parameters);
  if (result == cudaSuccess && parameters.result_out == cudaGraphInstantiateSuccess) return exec;
  std::size_t nodes = 0;
  try {
    cuda_ignore(cudaGraphGetNodes(graph, nullptr, &nodes));
    throw_cuda_error(NativeApi::Runtime, result == cudaSuccess ? cudaErrorUnknown : result,
                     "cudaGraphInstantiateWithParams", call,
                     describe(parameters.result_out, nodes));
  } catch (const Error& error) {
    if (!name || parameters.errNode_out == nullptr) throw;
    throw name(error, parameters.errNode_out);
  }
}

}  // namespace reprise::detail

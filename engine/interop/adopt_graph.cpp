// Adopts CUDA graphs of the application, and returns the native graphs of captured graphs.
#include <reprise/cuda_interop.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "interop/cuda_access.hpp"
#include "interop/native_graph.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

// The caller may launch the native graph without the engine's knowledge, so its pages stay mapped.
const detail::CudaExec& resident_exec(const CapturedGraph& graph, std::string_view call) {
  const detail::CudaExec& exec = detail::cuda_exec(graph, call);
  detail::core_of(graph)->pin_resident();
  return exec;
}

}  // namespace

CapturedGraph from_native(const Device& device, CUgraph graph, const AdoptedGraphDesc& desc) {
  detail::CudaBackend& backend = detail::cuda_backend(device, "from_native");
  detail::core_of(device)->require_usable(Stage::Instantiate);
  if (graph == nullptr)
    detail::fail(ErrorCode::InvalidArgument, Stage::Instantiate, desc.label,
                 "from_native got a null graph");
  const detail::CudaContext& context = *backend.context();
  const detail::SetupScope scope(context, Stage::Instantiate);
  cudaGraph_t copy = nullptr;
  detail::cuda_check(cudaGraphClone(&copy, graph), "cudaGraphClone",
                     context.at(Stage::Instantiate, desc.label));
  return detail::graph_of_native(device, backend, detail::OwnedGraph(copy),
                                 {.label = desc.label, .owner = desc.owner});
}

CUgraph native_graph(const CapturedGraph& graph) {
  return static_cast<CUgraph>(resident_exec(graph, "native_graph").native_graph());
}

CUgraphExec native_exec(const CapturedGraph& graph) {
  return static_cast<CUgraphExec>(resident_exec(graph, "native_exec").native());
}

CUgraph release(const CapturedGraph& graph) {
  return resident_exec(graph, "release").clone_graph();
}

}  // namespace reprise::inline REPRISE_ABI

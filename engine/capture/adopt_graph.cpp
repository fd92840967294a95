// Graphs of the application as CapturedGraph, and the graphs behind ours.
#include <reprise/cuda_interop.hpp>

#include "capture/cuda_access.hpp"
#include "capture/native_graph.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"

namespace reprise {

CapturedGraph adopt_graph(const Device& device, CUgraph graph, const AdoptedGraphDesc& desc) {
  detail::CudaBackend& backend = detail::cuda_backend(device, "adopt_graph");
  device.core()->require_usable(Stage::Instantiate);
  if (graph == nullptr) detail::fail(ErrorCode::InvalidArgument, Stage::Instantiate, desc.label, "adopt_graph got a null graph");
  const detail::CudaContext& context = *backend.context();
  const detail::SetupScope scope(context, Stage::Instantiate);
  cudaGraph_t copy = nullptr;
  detail::cuda_check(cudaGraphClone(&copy, graph), "cudaGraphClone", context.at(Stage::Instantiate, desc.label));
  return detail::graph_of_native(device, backend, detail::OwnedGraph(copy), {.label = desc.label, .owner = desc.owner});
}

CUgraph native_graph(const CapturedGraph& graph) { return static_cast<CUgraph>(detail::cuda_exec(graph, "native_graph").native_graph()); }

CUgraphExec native_exec(const CapturedGraph& graph) { return static_cast<CUgraphExec>(detail::cuda_exec(graph, "native_exec").native()); }

CUgraph release_graph(const CapturedGraph& graph) { return detail::cuda_exec(graph, "release_graph").clone_graph(); }

}  // namespace reprise

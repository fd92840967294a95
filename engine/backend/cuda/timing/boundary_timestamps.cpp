#include "backend/cuda/timing/boundary_timestamps.hpp"

#include <vector>

#include "backend/cuda/timing/timestamp_ring.hpp"

namespace reprise::detail {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

// CUDA 13 adds an edge-data parameter, which stays null.
bool is_leaf(cudaGraphNode_t node, const CallContext& call) {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaError_t result = cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count);
  // The node has edges with data that was not requested.
  if (result == cudaErrorLossyQuery) return false;
#else
  const cudaError_t result = cudaGraphNodeGetDependentNodes(node, nullptr, &count);
  if (result == cudaErrorLossyQuery) return false;
#endif
  cuda_check(result, "cudaGraphNodeGetDependentNodes", call);
  return count == 0;
}

// `kind`: applies to each edge; null for full dependencies.
void add_edges(cudaGraph_t graph, const Nodes& from, const Nodes& to, const cudaGraphEdgeData* kind,
               const CallContext& call) {
#if CUDART_VERSION >= 13000
  cuda_check(cudaGraphAddDependencies(graph, from.data(), to.data(), kind, from.size()),
             "cudaGraphAddDependencies", call);
#else
  cuda_check(cudaGraphAddDependencies_v2(graph, from.data(), to.data(), kind, from.size()),
             "cudaGraphAddDependencies_v2", call);
#endif
}

cudaGraphNode_t add_timestamp(const CudaContext& context, cudaGraph_t graph,
                              const CudaKernel& kernel, std::uint64_t* ring, const Nodes& after,
                              const CallContext& call) {
  unsigned long long mask = TimestampRing::mask();
  void* parameters[] = {&ring, &mask};
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = kernel.function();
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = parameters;
  cudaGraphNode_t made = nullptr;
  cuda_check(context.driver.cuGraphAddKernelNode(&made, graph, after.data(), after.size(), &node),
             "cuGraphAddKernelNode", call);
  return made;
}

}  // namespace

BoundaryTimestamps add_boundary_timestamps(const CudaContext& context, cudaGraph_t graph,
                                           const CudaInstrumentation& instrumentation,
                                           std::uint64_t* ring, const CallContext& call) {
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", call);
  Nodes nodes(count);
  if (count != 0)
    cuda_check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes", call);
  Nodes leaves;
  for (const cudaGraphNode_t node : nodes) {
    if (is_leaf(node, call)) leaves.push_back(node);
  }
  cuda_check(cudaGraphGetRootNodes(graph, nullptr, &count), "cudaGraphGetRootNodes", call);
  Nodes roots(count);
  if (count != 0)
    cuda_check(cudaGraphGetRootNodes(graph, roots.data(), &count), "cudaGraphGetRootNodes", call);
  BoundaryTimestamps boundary;
  boundary.begin = add_timestamp(context, graph, *instrumentation.begin, ring, {}, call);
  if (roots.empty()) {
    leaves.assign(1, boundary.begin);
  } else {
    add_edges(graph, Nodes(roots.size(), boundary.begin), roots, nullptr, call);
  }
  boundary.end = add_timestamp(context, graph, *instrumentation.end, ring, leaves, call);
  return boundary;
}

bool can_overlap_start(const DeviceInfo& device) { return device.compute_major >= 9; }

void overlap_start(cudaGraph_t graph, const BoundaryTimestamps& boundary, cudaGraphNode_t root,
                   const CallContext& call) {
  cudaGraphEdgeData programmatic = {};
  programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  add_edges(graph, {boundary.begin}, {root}, &programmatic, call);
  // The end of `root` no longer implies the end of the start timestamp.
  add_edges(graph, {boundary.begin}, {boundary.end}, nullptr, call);
}

void remove_boundary_timestamps(cudaGraph_t copy, const BoundaryTimestamps& boundary,
                                const CallContext& call) {
  for (const cudaGraphNode_t original : {boundary.begin, boundary.end}) {
    cudaGraphNode_t node = nullptr;
    cuda_check(cudaGraphNodeFindInClone(&node, original, copy), "cudaGraphNodeFindInClone", call);
    cuda_check(cudaGraphDestroyNode(node), "cudaGraphDestroyNode", call);
  }
}

void set_timestamp_mode(cudaGraphExec_t exec, const BoundaryTimestamps& boundary,
                        TimestampMode timestamp_mode, const CallContext& call) {
  for (const cudaGraphNode_t node : {boundary.begin, boundary.end}) {
    if (node == nullptr) continue;
    cuda_check(cudaGraphNodeSetEnabled(exec, node, timestamp_mode == TimestampMode::On ? 1 : 0),
               "cudaGraphNodeSetEnabled", call);
  }
}

}  // namespace reprise::detail

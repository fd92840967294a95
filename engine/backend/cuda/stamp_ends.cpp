#include "backend/cuda/stamp_ends.hpp"

#include <vector>

#include "backend/cuda/stamp_ring.hpp"

namespace reprise::detail {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

// CUDA 13 asks for edges' data too, which nobody here looks at.
bool is_leaf(cudaGraphNode_t node, const CallPlace& place) {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaError_t result = cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count);
  if (result == cudaErrorLossyQuery) return false;  // it has edges, with data that was not asked for
#else
  const cudaError_t result = cudaGraphNodeGetDependentNodes(node, nullptr, &count);
  if (result == cudaErrorLossyQuery) return false;
#endif
  cuda_check(result, "cudaGraphNodeGetDependentNodes", place);
  return count == 0;
}

// `kind`: of each edge; null for edges that wait for all of a node.
void add_edges(cudaGraph_t graph, const Nodes& from, const Nodes& to, const cudaGraphEdgeData* kind, const CallPlace& place) {
#if CUDART_VERSION >= 13000
  cuda_check(cudaGraphAddDependencies(graph, from.data(), to.data(), kind, from.size()), "cudaGraphAddDependencies", place);
#else
  cuda_check(cudaGraphAddDependencies_v2(graph, from.data(), to.data(), kind, from.size()), "cudaGraphAddDependencies_v2", place);
#endif
}

cudaGraphNode_t add_stamp(const CudaContext& context, cudaGraph_t graph, const CudaKernel& kernel, std::uint64_t* ring, const Nodes& after,
                          const CallPlace& place) {
  unsigned long long mask = StampRing::mask();
  void* parameters[] = {&ring, &mask};
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = kernel.function();
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = parameters;
  cudaGraphNode_t made = nullptr;
  cuda_check(context.driver.cuGraphAddKernelNode(&made, graph, after.data(), after.size(), &node), "cuGraphAddKernelNode", place);
  return made;
}

}  // namespace

StampEnds add_stamp_ends(const CudaContext& context, cudaGraph_t graph, const CudaInstruments& instruments, std::uint64_t* ring,
                         const CallPlace& place) {
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", place);
  Nodes nodes(count);
  if (count != 0) cuda_check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes", place);
  Nodes leaves;
  for (const cudaGraphNode_t node : nodes) {
    if (is_leaf(node, place)) leaves.push_back(node);
  }
  cuda_check(cudaGraphGetRootNodes(graph, nullptr, &count), "cudaGraphGetRootNodes", place);
  Nodes roots(count);
  if (count != 0) cuda_check(cudaGraphGetRootNodes(graph, roots.data(), &count), "cudaGraphGetRootNodes", place);
  StampEnds ends;
  ends.begin = add_stamp(context, graph, *instruments.begin, ring, {}, place);
  if (roots.empty()) {
    leaves.assign(1, ends.begin);
  } else {
    add_edges(graph, Nodes(roots.size(), ends.begin), roots, nullptr, place);
  }
  ends.end = add_stamp(context, graph, *instruments.end, ring, leaves, place);
  return ends;
}

bool can_overlap_begin(const DeviceInfo& device) { return device.compute_major >= 9; }

void overlap_begin(cudaGraph_t graph, const StampEnds& ends, cudaGraphNode_t root, const CallPlace& place) {
  cudaGraphEdgeData programmatic = {};
  programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  add_edges(graph, {ends.begin}, {root}, &programmatic, place);
  add_edges(graph, {ends.begin}, {ends.end}, nullptr, place);  // root's end says nothing of the first stamp's any more
}

void remove_stamp_ends(cudaGraph_t copy, const StampEnds& ends, const CallPlace& place) {
  for (const cudaGraphNode_t original : {ends.begin, ends.end}) {
    cudaGraphNode_t node = nullptr;
    cuda_check(cudaGraphNodeFindInClone(&node, original, copy), "cudaGraphNodeFindInClone", place);
    cuda_check(cudaGraphDestroyNode(node), "cudaGraphDestroyNode", place);
  }
}

void set_stamping(cudaGraphExec_t exec, const StampEnds& ends, Stamping stamping, const CallPlace& place) {
  for (const cudaGraphNode_t node : {ends.begin, ends.end}) {
    if (node == nullptr) continue;
    cuda_check(cudaGraphNodeSetEnabled(exec, node, stamping == Stamping::On ? 1 : 0), "cudaGraphNodeSetEnabled", place);
  }
}

}  // namespace reprise::detail

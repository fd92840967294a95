#ifdef REPRISE_HAS_CUDA

#include "raw_graph.hpp"

#include <iterator>
#include <stdexcept>
#include <vector>

#include "nodes.shaders.hpp"

namespace reprise::bench {

void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(result));
}

// Symbols of the functions in kernels/nodes.cu, by number of parents.
constexpr const char* kNodeSymbols[] = {"_Z5node0jPf", "_Z5node1jPfPKf", "_Z5node2jPfPKfS1_",
                                        "_Z5node3jPfPKfS1_S1_", "_Z5node4jPfPKfS1_S1_S1_"};
static_assert(std::size(kNodeSymbols) == kMaxParents + 1);

RawKernels::RawKernels() {
  REPRISE_BENCH_CUDA(cudaLibraryLoadData(&library_, shaders::node0.image().data(), nullptr, nullptr,
                                         0, nullptr, nullptr, 0));
  for (std::uint32_t i = 0; i <= kMaxParents; ++i)
    REPRISE_BENCH_CUDA(cudaLibraryGetKernel(&kernels_[i], library_, kNodeSymbols[i]));
}

RawKernels::~RawKernels() { static_cast<void>(cudaLibraryUnload(library_)); }

RawGraph::RawGraph(const RawGraphDesc& desc) {
  REPRISE_BENCH_CUDA(cudaGraphCreate(&graph_, 0));
  std::vector<cudaGraphNode_t> nodes(desc.shape->size());
  for (std::uint32_t i = 0; i < desc.shape->size(); ++i) {
    const Parents& parents = desc.shape->nodes[i];
    std::uint32_t spin_ns = desc.spin_ns;
    float* pointers[kMaxParents + 1] = {desc.state + i};
    void* arguments[kMaxParents + 2] = {&spin_ns, &pointers[0]};
    cudaGraphNode_t before[kMaxParents] = {};
    for (std::uint32_t p = 0; p < parents.count; ++p) {
      pointers[p + 1] = desc.state + parents.node[p];
      arguments[p + 2] = &pointers[p + 1];
      before[p] = nodes[parents.node[p]];
    }
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(desc.kernels->of_parents(parents.count));
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    REPRISE_BENCH_CUDA(cudaGraphAddKernelNode(&nodes[i], graph_, before, parents.count, &params));
  }
}

RawGraph::~RawGraph() {
  if (exec_ != nullptr) static_cast<void>(cudaGraphExecDestroy(exec_));
  static_cast<void>(cudaGraphDestroy(graph_));
}

void RawGraph::instantiate() { REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec_, graph_, 0)); }
void RawGraph::launch(cudaStream_t stream) { REPRISE_BENCH_CUDA(cudaGraphLaunch(exec_, stream)); }

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

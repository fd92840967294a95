#ifdef REPRISE_HAS_CUDA

#include "raw_task_graph.hpp"

#include <vector>

#include "raw_graph.hpp"
#include "task.shaders.hpp"

namespace reprise::bench {

RawTask::RawTask() {
  REPRISE_BENCH_CUDA(cudaLibraryLoadData(&library_, shaders::task.image().data(), nullptr, nullptr,
                                         0, nullptr, nullptr, 0));
  REPRISE_BENCH_CUDA(cudaLibraryGetKernel(&kernel_, library_, "_Z4taskjPf"));
}

RawTask::~RawTask() { static_cast<void>(cudaLibraryUnload(library_)); }

RawTaskGraph::RawTaskGraph(const RawTaskGraphDesc& desc) {
  REPRISE_BENCH_CUDA(cudaGraphCreate(&graph_, 0));
  std::vector<cudaGraphNode_t> nodes(desc.tasks->size()), before;
  for (std::uint32_t i = 0; i < desc.tasks->size(); ++i) {
    std::uint32_t spin_ns = desc.task.spin_of(i);
    float* own = desc.memory + i;
    void* arguments[] = {&spin_ns, &own};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(desc.kernel);
    params.gridDim = dim3(desc.blocks);
    params.blockDim = dim3(desc.threads);
    params.kernelParams = arguments;
    before.clear();
    for (const std::uint32_t parent : desc.tasks->parents[i]) before.push_back(nodes[parent]);
    REPRISE_BENCH_CUDA(
        cudaGraphAddKernelNode(&nodes[i], graph_, before.data(), before.size(), &params));
  }
  REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
}

RawTaskGraph::~RawTaskGraph() {
  if (exec_ != nullptr) static_cast<void>(cudaGraphExecDestroy(exec_));
  static_cast<void>(cudaGraphDestroy(graph_));
}

void RawTaskGraph::launch(cudaStream_t stream) {
  REPRISE_BENCH_CUDA(cudaGraphLaunch(exec_, stream));
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

// The peer of cuda.lowering: the nodes and edges of a task graph as a person would write them down,
// by CUDA's runtime alone. Threads: one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "support/task_graphs.hpp"

namespace reprise::bench {

// The kernel of the nodes, loaded without the engine.
class RawTask {
 public:
  RawTask();
  RawTask(const RawTask&) = delete;
  RawTask& operator=(const RawTask&) = delete;
  ~RawTask();
  [[nodiscard]] cudaKernel_t kernel() const { return kernel_; }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

struct RawTaskGraphDesc {
  const test::TaskGraph* tasks = nullptr;
  cudaKernel_t kernel = nullptr;
  std::uint32_t blocks = 1, threads = 32;  // of each node
  std::uint32_t spin_ns = 0;
  float* memory = nullptr;  // an element a node
};

class RawTaskGraph {
 public:
  explicit RawTaskGraph(const RawTaskGraphDesc& desc);  // instantiated
  RawTaskGraph(const RawTaskGraph&) = delete;
  RawTaskGraph& operator=(const RawTaskGraph&) = delete;
  ~RawTaskGraph();
  void launch(cudaStream_t stream);

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace reprise::bench

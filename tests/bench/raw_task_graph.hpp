// The nodes and edges of a task graph, built with the CUDA runtime alone. The peer of
// cuda.lowering. Threads: one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lowering_points.hpp"
#include "support/task_graphs.hpp"

namespace reprise::bench {

// The node kernel, loaded without the engine.
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
  std::uint32_t blocks = 1, threads = 32;
  TaskKernel task = {};
  float* memory = nullptr;  // one element per node
};

class RawTaskGraph {
 public:
  explicit RawTaskGraph(const RawTaskGraphDesc& desc);  // also instantiates
  RawTaskGraph(const RawTaskGraph&) = delete;
  RawTaskGraph& operator=(const RawTaskGraph&) = delete;
  ~RawTaskGraph();
  void launch(cudaStream_t stream);

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace reprise::bench

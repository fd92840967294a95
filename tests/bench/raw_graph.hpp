// The nodes and edges of a shape as a CUDA graph, built with the CUDA runtime alone. The peer of
// the GPU benchmarks. Threads: one.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>

#include "shapes.hpp"

namespace reprise::bench {

// Throws std::runtime_error with the call and the name of the error code.
void check(cudaError_t result, const char* call);
#define REPRISE_BENCH_CUDA(call) ::reprise::bench::check((call), #call)

// The node kernels, loaded without the engine.
class RawKernels {
 public:
  RawKernels();
  RawKernels(const RawKernels&) = delete;
  RawKernels& operator=(const RawKernels&) = delete;
  ~RawKernels();
  [[nodiscard]] cudaKernel_t of_parents(std::uint32_t count) const { return kernels_[count]; }

 private:
  cudaLibrary_t library_ = nullptr;
  std::array<cudaKernel_t, kMaxParents + 1> kernels_{};
};

struct RawGraphDesc {
  const Shape* shape = nullptr;
  const RawKernels* kernels = nullptr;
  float* state = nullptr;
  std::uint32_t spin_ns = 0;
};

// Owns the graph and, after instantiate(), its executable.
class RawGraph {
 public:
  explicit RawGraph(const RawGraphDesc& desc);  // adds the nodes
  RawGraph(const RawGraph&) = delete;
  RawGraph& operator=(const RawGraph&) = delete;
  ~RawGraph();

  void instantiate();
  void launch(cudaStream_t stream);
  [[nodiscard]] cudaGraph_t graph() const { return graph_; }
  [[nodiscard]] cudaGraphExec_t exec() const { return exec_; }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace reprise::bench

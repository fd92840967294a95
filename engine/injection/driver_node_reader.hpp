// DriverNodeReader: reads the parameters of single nodes of the program's graphs. Threads: one at a
// time.
#pragma once

#include <unordered_map>

#include "injection/driver_calls.hpp"
#include "injection/kernel_cache.hpp"
#include "injection/observed_graph.hpp"

namespace reprise::detail {

// Overwrite what these parameters state of a node, and nothing else.
void set_kernel(const KernelFacts* facts, const CUDA_KERNEL_NODE_PARAMS& parameters,
                ObservedNode& node);
void set_copy(const CUDA_MEMCPY3D& parameters, ObservedNode& node);
void set_fill(const CUDA_MEMSET_NODE_PARAMS& parameters, ObservedNode& node);

class DriverNodeReader {
 public:
  // Adds each kernel to `graph` once.
  DriverNodeReader(const DriverCalls& driver, KernelCache& kernels, ObservedGraph& graph)
      : driver_(driver), cache_(kernels), graph_(graph) {}

  // Reads any node except a child graph. Without parameters from the driver, only the kind is set.
  [[nodiscard]] ObservedNode read(CUgraphNode node, CUgraphNodeType type);

 private:
  [[nodiscard]] ObservedNode kernel(const CUDA_KERNEL_NODE_PARAMS& parameters);

  const DriverCalls& driver_;
  KernelCache& cache_;
  ObservedGraph& graph_;
  std::unordered_map<const KernelFacts*, std::uint32_t> kernels_;
};

}  // namespace reprise::detail

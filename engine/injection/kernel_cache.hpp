// KernelCache: what the driver says about the program's kernels. The driver is asked once per
// kernel, because programs give kernels parameters before every launch. Threads: any; find() calls
// the driver without a lock.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "injection/driver_calls.hpp"
#include "injection/observed_graph.hpp"

namespace reprise::detail {

struct KernelFacts {
  ObservedKernel kernel;
  // In bytes, of each parameter in the buffer of all parameters.
  struct Parameter {
    std::size_t offset = 0, size = 0;
  };
  std::vector<Parameter> parameters;
  std::size_t words = 0;  // of all parameters, that can be addresses
};

class KernelCache {
 public:
  // Null: the parameters name no kernel.
  [[nodiscard]] std::shared_ptr<const KernelFacts> find(const DriverCalls& driver,
                                                        const CUDA_KERNEL_NODE_PARAMS& parameters);
  // The program unloads kernels, whose handles it may get again for others.
  void clear();

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_map<const void*, std::shared_ptr<const KernelFacts>> known_;
};

}  // namespace reprise::detail

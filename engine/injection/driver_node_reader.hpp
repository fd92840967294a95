// DriverNodeReader: reads the parameters of single nodes of the program's graphs. Threads: one at a
// time.
#pragma once

#include <unordered_map>

#include "injection/driver_calls.hpp"
#include "injection/observed_graph.hpp"

namespace reprise::detail {

class DriverNodeReader {
 public:
  // Adds each kernel to `graph` once.
  DriverNodeReader(const DriverCalls& driver, ObservedGraph& graph)
      : driver_(driver), graph_(graph) {}

  // Reads any node except a child graph. Without parameters from the driver, only the kind is set.
  [[nodiscard]] ObservedNode read(CUgraphNode node, CUgraphNodeType type);
  [[nodiscard]] ObservedNode kernel(const CUDA_KERNEL_NODE_PARAMS& parameters);
  [[nodiscard]] static ObservedNode copy(const CUDA_MEMCPY3D& parameters);
  [[nodiscard]] static ObservedNode fill(const CUDA_MEMSET_NODE_PARAMS& parameters);

 private:
  [[nodiscard]] std::uint32_t kernel_of(CUfunction function);
  void add_words(CUfunction function, const CUDA_KERNEL_NODE_PARAMS& parameters,
                 ObservedNode& node) const;

  const DriverCalls& driver_;
  ObservedGraph& graph_;
  std::unordered_map<CUfunction, std::uint32_t> kernels_;
};

}  // namespace reprise::detail

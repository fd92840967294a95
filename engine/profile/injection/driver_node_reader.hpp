// What the parameters of one node of the program's graph say. Threads: pure functions of the
// driver's state.
#pragma once

#include <unordered_map>

#include "profile/injection/driver_calls.hpp"
#include "profile/injection/observed_graph.hpp"

namespace reprise::detail {

class DriverNodeReader {
 public:
  // Kernels go into `graph`, each once.
  DriverNodeReader(const DriverCalls& driver, ObservedGraph& graph)
      : driver_(driver), graph_(graph) {}

  // Of any node but a child graph. Where the driver does not tell its parameters, its kind alone.
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

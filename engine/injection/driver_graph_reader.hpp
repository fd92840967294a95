// DriverGraphReader: reads a CUDA graph of the program into an ObservedGraph, with child graphs and
// conditional bodies inlined, or the parameters of single nodes. Calls the driver; the caller must
// hold no lock of this library. Threads: any, while no other thread changes the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "injection/driver_calls.hpp"
#include "injection/observed_graph.hpp"

namespace reprise::detail {

// Facts that are observable only while a graph is created.
struct GraphKnowledge {
  std::function<NodeOrigin(CUgraphNode)> origin_of;
  std::function<std::vector<CUgraph>(CUgraphNode)> bodies_of;  // of a conditional node
  std::function<std::uint32_t(CUgraphNode)>
      profiler_number_of;  // the profiler's node number; kNone: unknown
};

class DriverGraphReader {
 public:
  DriverGraphReader(const DriverCalls& driver, const GraphKnowledge& knowledge)
      : driver_(driver), knowledge_(knowledge) {}

  [[nodiscard]] ObservedGraph read(CUgraph graph) const;
  // A graph that consists of one node with these parameters.
  [[nodiscard]] ObservedGraph read_kernel(const CUDA_KERNEL_NODE_PARAMS& parameters) const;
  [[nodiscard]] ObservedGraph read_copy(const CUDA_MEMCPY3D& parameters) const;
  [[nodiscard]] ObservedGraph read_fill(const CUDA_MEMSET_NODE_PARAMS& parameters) const;

 private:
  const DriverCalls& driver_;
  const GraphKnowledge& knowledge_;
};

}  // namespace reprise::detail

// read_driver_graph(): reads a CUDA graph of the program into an ObservedGraph, with child graphs
// and conditional bodies inlined. Calls the driver; the caller must hold no lock of this library.
// Threads: any, while no other thread changes the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "injection/driver_calls.hpp"
#include "injection/kernel_cache.hpp"
#include "injection/observed_graph.hpp"

namespace reprise::detail {

// Facts that are observable only while a graph is created.
struct GraphKnowledge {
  std::function<NodeOrigin(CUgraphNode)> origin_of;
  std::function<std::vector<CUgraph>(CUgraphNode)> bodies_of;  // of a conditional node
  std::function<std::uint32_t(CUgraphNode)>
      profiler_number_of;  // the profiler's node number; kNone: unknown
};

[[nodiscard]] ObservedGraph read_driver_graph(const DriverCalls& driver, KernelCache& kernels,
                                              const GraphKnowledge& knowledge, CUgraph graph);

}  // namespace reprise::detail

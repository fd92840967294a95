// GraphCalls: the driver's calls that read CUDA graphs, for the CUDA device and for programs that
// are observed; each fills the table from the driver it uses. Links no CUDA library. Threads:
// immutable once filled; a graph must not change while it is read.
#pragma once

#include <cuda.h>

#include <vector>

#include "base/forward_order.hpp"

namespace reprise::detail {

// X(call, CUDA version of the wanted signature)
#define REPRISE_GRAPH_CALLS(X)                \
  X(cuThreadExchangeStreamCaptureMode, 10010) \
  X(cuGraphGetNodes, 10000)                   \
  X(cuGraphGetEdges, 12030)                   \
  X(cuGraphNodeGetType, 10000)                \
  X(cuGraphKernelNodeGetParams, 12000)        \
  X(cuGraphMemcpyNodeGetParams, 10000)        \
  X(cuGraphMemsetNodeGetParams, 10000)        \
  X(cuGraphMemAllocNodeGetParams, 11040)      \
  X(cuGraphChildGraphNodeGetGraph, 10000)     \
  X(cuKernelGetFunction, 12000)               \
  X(cuFuncGetName, 12030)                     \
  X(cuFuncGetParamInfo, 12040)                \
  X(cuFuncGetAttribute, 2020)

struct NativeGraph {
  std::vector<CUgraphNode> nodes;   // in order of creation
  std::vector<DirectedEdge> edges;  // positions in `nodes`
};

struct GraphCalls {
#define REPRISE_X(call, version) decltype(&::call) call = nullptr;
  REPRISE_GRAPH_CALLS(REPRISE_X)
#undef REPRISE_X

  struct Result {
    const char* call = nullptr;  // that failed
    CUresult result = CUDA_SUCCESS;
  };
  // If only the edges cannot be read, `graph` has the nodes.
  [[nodiscard]] Result read_graph(CUgraph handle, NativeGraph& graph) const;
};

}  // namespace reprise::detail

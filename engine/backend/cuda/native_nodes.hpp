// The nodes of a CUDA graph that somebody else made, child graphs opened, in an order in which they
// could run. Threads: pure functions of a graph that nobody changes meanwhile; used within a
// SetupScope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/cuda_context.hpp"
#include "base/forward_order.hpp"

namespace reprise::detail {

struct NativeNode {
  CUgraphNode node = nullptr;  // null: a join that stands for the many edges around a child graph
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::uint32_t group = 0;  // the child graph that it is in, in NativeNodes::groups
};

struct NativeNodes {
  // groups[0] is the graph itself, its own parent.
  struct Group {
    std::uint32_t parent = 0;
    std::string name;
  };
  std::vector<NativeNode> nodes;    // topological; ties in order of creation
  std::vector<DirectedEdge> edges;  // from < to; by to, then from; each once
  std::vector<Group> groups;
};

// Throws what the driver says.
[[nodiscard]] NativeNodes native_nodes(const CudaContext& context, CUgraph graph,
                                       const CallContext& place);

}  // namespace reprise::detail

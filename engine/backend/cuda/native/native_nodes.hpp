// The nodes of an application's CUDA graph in topological order, with child graphs expanded.
// Threads: pure functions; the graph must not change during a call; used within a SetupScope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/cuda_context.hpp"
#include "base/forward_order.hpp"

namespace reprise::detail {

struct NativeNode {
  CUgraphNode node = nullptr;  // null: a join that replaces the edges between two sets of nodes
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::uint32_t group = 0;  // the enclosing child graph, in NativeNodes::groups
};

struct NativeNodes {
  // groups[0] is the graph itself and its own parent.
  struct Group {
    std::uint32_t parent = 0;
    std::string name;
  };
  std::vector<NativeNode> nodes;    // topological; ties in order of creation
  std::vector<DirectedEdge> edges;  // from < to; sorted by to, then from; unique
  std::vector<Group> groups;
};

// Throws the driver's errors.
[[nodiscard]] NativeNodes native_nodes(const CudaContext& context, CUgraph graph,
                                       const CallContext& call);

}  // namespace reprise::detail

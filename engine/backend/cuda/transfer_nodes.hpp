// Copies and fills as graph nodes: the cheapest node that says the same. One command is always one
// node. The graph's context is current. Threads: one graph, one thread.
#pragma once

#include <cstddef>
#include <span>

#include "backend/cuda/cuda_check.hpp"
#include "record/command.hpp"

namespace reprise::detail {

// Where a node goes, and what it comes after.
struct NodePlace {
  cudaGraph_t graph = nullptr;
  std::span<const cudaGraphNode_t> after;
  CallContext call;
};

// Extent and pitches of a copy brought into the shape with the fewest dimensions that moves the
// same bytes.
struct CopyShape {
  Extent extent;
  Pitch source, destination;
};
[[nodiscard]] CopyShape reduce(const CopyShape& shape) noexcept;

[[nodiscard]] cudaGraphNode_t add_copy(const NodePlace& place, const std::byte* source,
                                       std::byte* destination, const CopyShape& shape);
[[nodiscard]] cudaGraphNode_t add_fill(const NodePlace& place, std::byte* destination,
                                       const FillPayload& fill);

// The same for a node of an executable, from its next launch on; without `exec` for the node
// itself, in the graph that it is in. CUDA's result; where it is an error, the node is as it was.
[[nodiscard]] cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   const std::byte* source, std::byte* destination,
                                   const CopyShape& shape);
[[nodiscard]] cudaError_t set_fill(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   std::byte* destination, const FillPayload& fill);

}  // namespace reprise::detail

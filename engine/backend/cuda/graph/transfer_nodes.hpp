// Copies and fills as graph nodes, with the cheapest equivalent node. One command is always one
// node. The graph's context is current. Threads: one per graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/cuda/cuda_check.hpp"
#include "record/command.hpp"

namespace reprise::detail {

// The graph and the predecessors of a new node.
struct NodeContext {
  cudaGraph_t graph = nullptr;
  std::span<const cudaGraphNode_t> after;
  CallContext call;
};

// Extent and pitches of a copy. reduce() returns the shape with the fewest dimensions that moves
// the same bytes.
struct CopyShape {
  Extent extent;
  Pitch source, destination;
};
[[nodiscard]] CopyShape reduce(const CopyShape& shape) noexcept;

[[nodiscard]] cudaGraphNode_t add_copy(const NodeContext& context, const std::byte* source,
                                       std::byte* destination, const CopyShape& shape);
[[nodiscard]] cudaGraphNode_t add_fill(const NodeContext& context, std::byte* destination,
                                       const FillPayload& fill);

// Sets a node of an executable from its next launch on, or, without `exec`, the node in its graph.
// Returns CUDA's result; on an error the node is unchanged.
[[nodiscard]] cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   const std::byte* source, std::byte* destination,
                                   const CopyShape& shape);
[[nodiscard]] cudaError_t set_fill(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   std::byte* destination, const FillPayload& fill);
// Lets the node of a fill write to `unused` instead, unused_fill_bytes(fill) at most.
[[nodiscard]] cudaError_t set_unused_fill(cudaGraphExec_t exec, cudaGraphNode_t node,
                                          std::byte* unused, const FillPayload& fill);
[[nodiscard]] std::uint64_t unused_fill_bytes(const FillPayload& fill) noexcept;

}  // namespace reprise::detail

// Copies and fills as graph nodes, with the cheapest equivalent node. One command is always one
// node. The graph's context is current. Threads: one per graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/graph/transfers.hpp"
#include "record/command.hpp"
#include "record/recording.hpp"

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

// The parameters of kernels that transfer these bytes.
[[nodiscard]] TransferRows transfer_rows(const std::byte* address, const Pitch& pitch) noexcept;
[[nodiscard]] CopyRows copy_rows(const std::byte* source, std::byte* destination,
                                 const CopyShape& shape) noexcept;

// The launch of a copy within the GPU by reprise_copy. A kernel reaches the rate of
// cudaMemcpyAsync. A memcpy node does so for multiples of 4 KiB up to 512 MiB, and leaves more of a
// busy GPU to others; it takes 1.4 to 1.6 times as long for other sizes, and 1.3 to 7 times for
// many rows (H200, CUDA 13.0).
class CopyLaunch {
 public:
  CopyLaunch(const std::byte* source, std::byte* destination, const CopyShape& shape) noexcept;
  CopyLaunch(const CopyLaunch&) = delete;
  CopyLaunch& operator=(const CopyLaunch&) = delete;
  // False for addresses and pitches that are no multiples of 4, and for too many units or rows.
  [[nodiscard]] bool is_possible() const noexcept { return unit_ != 0; }
  // True where a memcpy node would be slower.
  [[nodiscard]] bool is_faster() const noexcept;
  // Valid as long as this object.
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS parameters(CUfunction reprise_copy) noexcept;

 private:
  CopyRows rows_ = {};
  unsigned unit_ = 0;  // bytes; 0: not possible
  unsigned chunks_ = 0;
  unsigned blocks_ = 0, threads_ = 0, rows_of_block_ = 0;
  void* arguments_[3] = {&rows_, &unit_, &chunks_};
};

// True if both ends are memory of the device.
[[nodiscard]] bool is_within_device(const Recording& recording, const CopyPayload& copy);
// True if a command of the recording or of its bodies is a copy that reprise_copy may run.
[[nodiscard]] bool has_large_copies(const Recording& recording);

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

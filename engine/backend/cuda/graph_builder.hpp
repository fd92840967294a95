// GraphBuilder: makes the CUDA graph of a plan: one node a lowered node, in the plan's order, edges in the plan's order.
// Failures name the command. Threads: one; used within a SetupScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/host_calls.hpp"
#include "backend/cuda/cuda_instruments.hpp"
#include "backend/cuda/fault_markers.hpp"
#include "backend/cuda/kernel_arguments.hpp"
#include "backend/cuda/node_stamps.hpp"
#include "backend/cuda/op_capture.hpp"
#include "backend/cuda/staged_bytes.hpp"
#include "backend/cuda/stamp_ends.hpp"
#include "backend/cuda/transfer_nodes.hpp"

namespace reprise::detail {

class GraphBuilder {
 public:
  // What notes times in the graph, in place of the frame or around it where the plan has none.
  struct Stamps {
    const CudaInstruments* kernels = nullptr;  // null: nothing is noted
    std::uint64_t* ring = nullptr;             // of a StampRing
    NodeStamps* nodes = nullptr;               // null: only when replays begin and end
  };
  // Everything outlives the builder; `graph` is empty.
  struct Target {
    cudaGraph_t graph;
    StagedBytes& staged;
    HostCalls& calls;
    OpHoldings& holdings;
    const CudaKernel* frame;  // null where the plan has none
    Stamps stamps = {};
    const FaultMarkers* markers = nullptr;  // null where the plan has none
  };
  GraphBuilder(const CudaContext& context, const Plan& plan, const Bindings& bindings, const Target& target);

  void add_nodes();
  // The graph that add_nodes() filled, as CUDA's executable.
  [[nodiscard]] cudaGraphExec_t instantiate();
  // The stamps that it put around everything; none where the frame's nodes stamp, or nothing does.
  [[nodiscard]] const StampEnds& ends() const noexcept { return ends_; }
  [[nodiscard]] std::vector<cudaGraphNode_t> take_nodes() noexcept { return std::move(nodes_); }  // by lowered node
  [[nodiscard]] std::uint32_t lowered_of(cudaGraphNode_t node) const;  // kNone for an instrument and for null

 private:
  [[nodiscard]] cudaGraphNode_t add_node(const LoweredNode& node);
  [[nodiscard]] cudaGraphNode_t add_command(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_dispatch(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_kernel(CUDA_KERNEL_NODE_PARAMS& parameters);
  [[nodiscard]] cudaGraphNode_t add_host(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_op(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_empty();
  // One thread of `kernel`.
  [[nodiscard]] cudaGraphNode_t add_instrument(const CudaKernel& kernel, std::span<void*> parameters);
  [[nodiscard]] cudaGraphNode_t add_boundary(LoweredKind kind);
  [[nodiscard]] cudaGraphNode_t add_node_stamp(std::uint32_t node);
  // Counts up `word`; the next node comes after it.
  cudaGraphNode_t add_fault_mark(std::uint64_t* word);
  [[nodiscard]] cudaGraphNode_t add_end_stamp();
  void set_launch_attributes(cudaGraphNode_t node, const DispatchPayload& dispatch, const CudaKernel& kernel);
  [[nodiscard]] std::byte* address(std::uint32_t buffer, std::uint64_t offset) const { return bindings_.address[buffer] + offset; }
  [[nodiscard]] NodePlace place() const { return {target_.graph, after_, call_}; }
  // Command of a lowered node; kNone for a node of the frame.
  [[nodiscard]] std::uint32_t command_of(std::uint32_t node) const;
  [[nodiscard]] Error with_command(const Error& error, std::uint32_t node) const;

  const CudaContext& context_;
  const Plan& plan_;
  const Bindings& bindings_;
  const Target target_;
  const CallPlace call_;
  StampEnds ends_;
  std::vector<cudaGraphNode_t> nodes_;  // by lowered node
  std::vector<cudaGraphNode_t> done_;   // by lowered node: what stands for its end, itself or what is noted behind it
  std::vector<cudaGraphNode_t> after_;  // scratch: what the node being added comes after
  KernelArguments arguments_;
};

}  // namespace reprise::detail

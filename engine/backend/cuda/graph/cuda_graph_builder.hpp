// CudaGraphBuilder: creates the CUDA graph of a plan: one node per lowered node and all edges, in
// the plan's order. Errors name the command. Threads: one; used within a SetupScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/body_graph.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/graph/exec_nodes.hpp"
#include "backend/cuda/graph/fault_markers.hpp"
#include "backend/cuda/graph/host_callbacks.hpp"
#include "backend/cuda/graph/kernel_arguments.hpp"
#include "backend/cuda/graph/loop_counters.hpp"
#include "backend/cuda/graph/op_capture.hpp"
#include "backend/cuda/graph/staged_bytes.hpp"
#include "backend/cuda/graph/transfer_nodes.hpp"
#include "backend/cuda/segments/cuda_segments.hpp"
#include "backend/cuda/timing/boundary_timestamps.hpp"
#include "backend/cuda/timing/cuda_instrumentation.hpp"
#include "backend/cuda/timing/node_timestamps.hpp"
#include "plan/timing_layout.hpp"

namespace reprise::detail {

class CudaGraphBuilder {
 public:
  // The timestamp kernels of the graph. They replace the entry and exit kernels, or surround a
  // graph without these.
  struct Timestamps {
    const CudaInstrumentation* kernels = nullptr;  // null: no timestamps
    std::uint64_t* ring = nullptr;                 // of a TimestampRing
    const NodeTimestamps* nodes = nullptr;         // null: only the start and end of replays
    const BodyTimestamps* bodies = nullptr;        // null: no timestamps in bodies
  };
  // The loop whose iterations the body counts.
  struct Iteration {
    std::uint32_t loop = 0;  // its number
    std::uint64_t limit = 0;
    cudaGraphConditionalHandle condition = 0;
    bool is_in_segment = false;  // a segment counts and limits them
  };
  // The state that a body shares with its outer graph.
  struct Outer {
    std::uint32_t& next_key;               // shared by all bodies
    const TimingLayout& timing;            // of the whole plan
    std::vector<BodyGraph>& bodies;        // by number in `timing`
    std::uint32_t body = 0;                // its number
    std::uint32_t first_loop = 0;          // the number of the body's first loop
    const Iteration* iteration = nullptr;  // null: not the body of a loop
    OpLocation op_location = OpLocation::Conditional;
  };
  // Everything outlives the builder; `graph` is empty.
  struct Target {
    cudaGraph_t graph;
    StagedBytes& staged;
    HostCallbacks& callbacks;
    RetainedResources& retained;
    // For entry kernel, exit kernel and joins; null if the plan has none.
    const CudaKernel* entry_exit;
    const CudaKernel* copy;  // reprise_copy; null if the plan has no large copies
    Timestamps timestamps = {};
    const FaultMarkers* markers = nullptr;  // null: the plan has none
    const LoopCounters* loops = nullptr;    // null: the plan has no loop
    const Outer* outer = nullptr;           // null: the outermost graph
    // Null: commands in segments are nodes as well, and so are those of bodies where nodes are
    // timed. Timed already where timestamps.nodes is set.
    CudaSegments* segments = nullptr;
  };
  CudaGraphBuilder(const CudaContext& context, const Plan& plan, const Bindings& bindings,
                   const Target& target);

  void add_nodes();
  // Instantiates the graph that add_nodes() filled.
  [[nodiscard]] cudaGraphExec_t instantiate() const;
  // The boundary timestamps that add_nodes() created; null nodes where entry or exit kernels take
  // the timestamps, or without timing.
  [[nodiscard]] const BoundaryTimestamps& boundary() const noexcept { return boundary_; }
  // By lowered node.
  [[nodiscard]] std::span<const cudaGraphNode_t> nodes() const noexcept { return nodes_; }
  // The nodes of `exec`, an executable of the graph, for later changes.
  [[nodiscard]] ExecNodes exec_nodes(cudaGraphExec_t exec) const;
  // By the number of the body in timing_layout().
  [[nodiscard]] std::span<const BodyGraph> bodies() const noexcept { return own_bodies_; }
  // The lowered node that is or runs `node`; kNone for instrumentation and for null.
  [[nodiscard]] std::uint32_t lowered_of(cudaGraphNode_t node) const;

 private:
  [[nodiscard]] cudaGraphNode_t add_node(const LoweredNode& node);
  [[nodiscard]] cudaGraphNode_t add_command(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_dispatch(std::uint32_t command);
  // Adds the node of the segment that contains lowered node `first`, and returns its last one.
  [[nodiscard]] std::uint32_t add_segment(std::uint32_t first, cudaGraphNode_t before);
  // The segment that runs a lowered node; kNone: the node is a node of its own.
  [[nodiscard]] std::uint32_t segment_of(std::uint32_t node) const;
  // True if bodies have segments.
  [[nodiscard]] bool has_segments() const { return target_.segments != nullptr && !times_bodies(); }
  // True if the graph is a profiling clone, in whose bodies commands are nodes.
  [[nodiscard]] bool times_bodies() const;
  void remove_repeated_predecessors();                          // from after_
  [[nodiscard]] bool is_conditional(std::uint32_t node) const;  // `node`: lowered node
  // See ConditionalOrder.
  void come_after_last_conditional();
  [[nodiscard]] cudaGraphNode_t add_kernel(const CUDA_KERNEL_NODE_PARAMS& parameters);
  [[nodiscard]] cudaGraphNode_t add_host(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_op(std::uint32_t command);
  [[nodiscard]] OpLocation op_location() const {
    return target_.outer == nullptr ? OpLocation::Graph : target_.outer->op_location;
  }
  [[nodiscard]] cudaGraphNode_t add_nested(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_conditional(std::uint32_t command);
  // Adds an empty conditional for each condition that decides none: CUDA refuses graphs with such
  // conditions. Only the beginning of a recording, which find_races() runs, has them.
  void add_missing_conditionals();
  // Returns the node; its bodies are in parameters.phGraph_out.
  [[nodiscard]] cudaGraphNode_t add_conditional_node(cudaConditionalNodeParams& parameters);
  // Builds the body in `graph`, which node `parent` runs.
  void fill_body(const Body& body, cudaGraph_t graph, cudaGraphNode_t parent, const Outer& outer);
  // The number of the first body of the node being added.
  [[nodiscard]] std::uint32_t first_body() const;
  // The node before everything in this body, or null.
  [[nodiscard]] cudaGraphNode_t add_iteration_timestamp();
  [[nodiscard]] cudaGraphNode_t add_body_node_timestamp(std::uint32_t node);
  [[nodiscard]] bool timestamps_nodes() const;
  // Adds the kernel that resets a loop's counters; the next node comes after it.
  void add_loop_entry(std::uint32_t command);
  void add_iteration(const Iteration& iteration);
  // The addresses, with each condition's handle in this graph.
  [[nodiscard]] Bindings with_conditions(const Bindings& bindings) const;
  void come_after_leaves();
  void add_leaves();  // adds the leaves so far to after_
  [[nodiscard]] cudaGraphNode_t add_empty();
  [[nodiscard]] cudaGraphNode_t add_join();
  // Adds one thread of `kernel`.
  [[nodiscard]] cudaGraphNode_t add_instrumentation_kernel(const CudaKernel& kernel,
                                                           std::span<void*> parameters);
  [[nodiscard]] cudaGraphNode_t add_boundary(LoweredKind kind);
  [[nodiscard]] cudaGraphNode_t add_node_timestamp(std::uint32_t node);
  // Adds an increment of `word`; the next node comes after it.
  cudaGraphNode_t add_fault_mark(std::uint64_t* word);
  [[nodiscard]] cudaGraphNode_t add_end_timestamp();
  // The lowered node that may overlap the start timestamp: the only root, if it is a plain kernel;
  // otherwise kNone.
  [[nodiscard]] std::uint32_t root_beside_start() const;
  [[nodiscard]] bool may_start_programmatically(const LoweredEdge& edge) const;
  void add_programmatic_edges(cudaGraphNode_t node);
  void set_launch_attributes(cudaGraphNode_t node, const DispatchPayload& dispatch,
                             const CudaKernel& kernel);
  [[nodiscard]] std::byte* address(std::uint32_t buffer, std::uint64_t offset) const {
    return bindings_.address[buffer] + offset;
  }
  [[nodiscard]] NodeContext node_context() const { return {target_.graph, after_, call_}; }
  [[nodiscard]] Error with_command(const Error& error, std::uint32_t node) const;

  const CudaContext& context_;
  const Plan& plan_;
  const Target target_;
  const CallContext call_;
  const Bindings bindings_;
  std::uint32_t own_next_key_ = 0;
  std::uint32_t& next_key_;        // of the outermost builder
  const std::uint32_t first_key_;  // of this plan's commands, for data kept by command
  const TimingLayout own_timing_;  // empty in a body
  const TimingLayout& timing_;     // of the outermost builder
  std::vector<BodyGraph> own_bodies_;
  std::vector<BodyGraph>& bodies_;         // of the outermost builder
  std::vector<std::uint32_t> first_loop_;  // by command; empty for a plan without bodies
  BoundaryTimestamps boundary_;
  std::uint32_t adding_ = 0;            // the lowered node being added
  std::vector<cudaGraphNode_t> nodes_;  // by lowered node
  // By lowered node: the node that marks its end, which is the node itself or the instrumentation
  // behind it.
  std::vector<cudaGraphNode_t> done_;
  std::vector<cudaGraphNode_t> after_;  // scratch: full predecessors of the node being added
  std::vector<cudaGraphNode_t> early_;  // scratch: programmatic predecessors
  cudaGraphNode_t last_conditional_ = nullptr;
  KernelArguments arguments_;
};

}  // namespace reprise::detail

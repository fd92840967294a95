// CudaGraphBuilder: makes the CUDA graph of a plan: one node a lowered node, in the plan's order,
// edges in the plan's order. Failures name the command. Threads: one; used within a SetupScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/body_graph.hpp"
#include "backend/cuda/boundary_timestamps.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_instrumentation.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/exec_nodes.hpp"
#include "backend/cuda/fault_markers.hpp"
#include "backend/cuda/host_callbacks.hpp"
#include "backend/cuda/kernel_arguments.hpp"
#include "backend/cuda/loop_counters.hpp"
#include "backend/cuda/node_timestamps.hpp"
#include "backend/cuda/op_capture.hpp"
#include "backend/cuda/staged_bytes.hpp"
#include "backend/cuda/transfer_nodes.hpp"
#include "plan/timing_layout.hpp"

namespace reprise::detail {

class CudaGraphBuilder {
 public:
  // What notes times in the graph, in place of the frame's halves, or around the graph where the
  // plan has none.
  struct Timestamps {
    const CudaInstrumentation* kernels = nullptr;  // null: nothing is noted
    std::uint64_t* ring = nullptr;                 // of a TimestampRing
    const NodeTimestamps* nodes = nullptr;         // null: only when replays begin and end
    const BodyTimestamps* bodies = nullptr;        // null: nothing is noted in bodies
  };
  // A loop's iteration, to be counted in the body.
  struct Iteration {
    std::uint32_t loop = 0;  // its number
    std::uint64_t limit = 0;
    cudaGraphConditionalHandle condition = 0;
  };
  // What a body knows of the graph that it is in.
  struct Outer {
    std::uint32_t& next_key;               // counts on over all bodies
    const TimingLayout& slots;             // of everything
    std::vector<BodyGraph>& bodies;        // by number in `slots`
    std::uint32_t body = 0;                // its number
    std::uint32_t first_loop = 0;          // the number of the body's first one
    const Iteration* iteration = nullptr;  // null: not the body of a loop
  };
  // Everything outlives the builder; `graph` is empty.
  struct Target {
    cudaGraph_t graph;
    StagedBytes& staged;
    HostCallbacks& calls;
    RetainedResources& holdings;
    const CudaKernel*
        entry_exit;  // of either half, and of joins; null where the plan has none of them
    Timestamps timestamps = {};
    const FaultMarkers* markers = nullptr;  // null where the plan has none
    const LoopCounters* loops = nullptr;    // null where nothing is a loop
    const Outer* outer = nullptr;           // null: this is no body of another graph
  };
  CudaGraphBuilder(const CudaContext& context, const Plan& plan, const Bindings& bindings,
                   const Target& target);

  void add_nodes();
  // The graph that add_nodes() filled, as CUDA's executable.
  [[nodiscard]] cudaGraphExec_t instantiate();
  // The stamps that it put around everything; none where a half of the frame stamps, or nothing
  // does.
  [[nodiscard]] const BoundaryTimestamps& ends() const noexcept { return ends_; }
  [[nodiscard]] std::span<const cudaGraphNode_t> nodes() const noexcept {
    return nodes_;
  }  // by lowered node
  // What `exec`, which was made of the graph, is changed by.
  [[nodiscard]] ExecNodes take_nodes(cudaGraphExec_t exec);
  // By the number of the body in timing_layout().
  [[nodiscard]] std::span<const BodyGraph> bodies() const noexcept { return own_bodies_; }
  [[nodiscard]] std::uint32_t lowered_of(
      cudaGraphNode_t node) const;  // kNone for an instrument and for null

 private:
  [[nodiscard]] cudaGraphNode_t add_node(const LoweredNode& node);
  [[nodiscard]] cudaGraphNode_t add_command(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_dispatch(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_kernel(CUDA_KERNEL_NODE_PARAMS& parameters);
  [[nodiscard]] cudaGraphNode_t add_host(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_op(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_nested(std::uint32_t command);
  [[nodiscard]] cudaGraphNode_t add_conditional(std::uint32_t command);
  // The body goes into `graph`, which node `parent` runs.
  void fill_body(const Body& body, cudaGraph_t graph, cudaGraphNode_t parent, const Outer& outer);
  // The number of the first body of the node that is being added.
  [[nodiscard]] std::uint32_t first_body() const;
  // What comes before everything in this body; null where nothing has to.
  [[nodiscard]] cudaGraphNode_t add_round_timestamp();
  [[nodiscard]] cudaGraphNode_t add_inside_timestamp(std::uint32_t node);
  [[nodiscard]] bool timestamps_nodes() const;
  // What a loop's counters need before it; the next node comes after it.
  void add_loop_entry(std::uint32_t command);
  void add_iteration(const Iteration& iteration);
  // The addresses, and for each condition its handle in this graph.
  [[nodiscard]] Bindings with_conditions(const Bindings& bindings) const;
  void come_after_leaves();
  void add_leaves();  // so far, to what the next node comes after
  [[nodiscard]] cudaGraphNode_t add_empty();
  [[nodiscard]] cudaGraphNode_t add_join();
  // One thread of `kernel`.
  [[nodiscard]] cudaGraphNode_t add_instrumentation_kernel(const CudaKernel& kernel,
                                                           std::span<void*> parameters);
  [[nodiscard]] cudaGraphNode_t add_boundary(LoweredKind kind);
  [[nodiscard]] cudaGraphNode_t add_node_timestamp(std::uint32_t node);
  // Counts up `word`; the next node comes after it.
  cudaGraphNode_t add_fault_mark(std::uint64_t* word);
  [[nodiscard]] cudaGraphNode_t add_end_timestamp();
  // The lowered node that may run beside the first of the two stamps: the only root, if it is a
  // plain kernel. kNone if there is none.
  [[nodiscard]] std::uint32_t root_beside_begin() const;
  [[nodiscard]] bool may_start_programmatically(const LoweredEdge& edge) const;
  void add_programmatic_edges(cudaGraphNode_t node);
  void set_priority(cudaGraphNode_t node, std::uint32_t index);  // of a lowered node
  void set_launch_attributes(cudaGraphNode_t node, const DispatchPayload& dispatch,
                             const CudaKernel& kernel);
  [[nodiscard]] std::byte* address(std::uint32_t buffer, std::uint64_t offset) const {
    return bindings_.address[buffer] + offset;
  }
  [[nodiscard]] NodePlace place() const { return {target_.graph, after_, call_}; }
  [[nodiscard]] Error with_command(const Error& error, std::uint32_t node) const;

  const CudaContext& context_;
  const Plan& plan_;
  const Target target_;
  const CallContext call_;
  const Bindings bindings_;
  std::uint32_t own_next_key_ = 0;
  std::uint32_t& next_key_;        // of the outermost builder
  const std::uint32_t first_key_;  // of this plan's commands, for what is kept by command
  const TimingLayout own_slots_;   // empty in a body
  const TimingLayout& slots_;      // of the outermost builder
  std::vector<BodyGraph> own_bodies_;
  std::vector<BodyGraph>& bodies_;         // of the outermost builder
  std::vector<std::uint32_t> first_loop_;  // by command; empty where nothing runs bodies
  BoundaryTimestamps ends_;
  std::uint32_t adding_ = 0;            // the lowered node that is being added
  std::vector<cudaGraphNode_t> nodes_;  // by lowered node
  std::vector<cudaGraphNode_t>
      done_;  // by lowered node: what stands for its end, itself or what is noted behind it
  std::vector<cudaGraphNode_t> after_;  // scratch: what the node being added comes after
  std::vector<cudaGraphNode_t> early_;  // the same, where it may start before they end
  KernelArguments arguments_;
};

}  // namespace reprise::detail

// NodeUpdate: updates single nodes of an executable, or of its source graph, to a plan and its
// bindings. Earlier launches keep their values. Threads: one at a time, without concurrent launches
// of the executable; its context is current.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_memory.hpp"
#include "backend/cuda/graph/exec_nodes.hpp"
#include "backend/cuda/graph/host_callbacks.hpp"
#include "backend/cuda/graph/kernel_arguments.hpp"
#include "backend/cuda/graph/op_capture.hpp"
#include "backend/cuda/graph/staged_bytes.hpp"

namespace reprise::detail {

class NodeUpdate {
 public:
  // The source of node parameters. Everything outlives the call.
  struct Source {
    const Plan& plan;
    const Bindings& bindings;
    StagedBytes& staged;
    RetainedResources& retained;
    HostCallbacks* callbacks = nullptr;  // of host nodes; null: host nodes are not changed
  };
  // `copy`: reprise_copy, which some copies run; null: none.
  NodeUpdate(std::shared_ptr<const CudaContext> context, const Recording& recording,
             const CudaKernel* copy = nullptr)
      : context_(std::move(context)), copy_(copy), arguments_(recording) {}

  // Also accepts the kernels of `plan`. Afterwards set_enabled() with `bindings` does not throw.
  void reserve(const Plan& plan, const Bindings& bindings);
  // Sets the parameters of a node of the lowered graph, or, for a node with bodies, of the body
  // nodes that `change` affects. A refused node is unchanged, but its bodies may be partly changed.
  // Throws DeviceLost.
  [[nodiscard]] ExecUpdate set(const ExecNodes& of, std::uint32_t node, const Source& source,
                               const BindingChange* change = nullptr);
  // Sets a node of the source graph, which affects launches only after an update of the executable
  // from that graph.
  [[nodiscard]] ExecUpdate set_in_graph(const ExecNodes& of, std::uint32_t node,
                                        const Source& source);
  // Enables or disables the node, by number in timing_layout(), as `bindings` specifies. Throws
  // OutOfMemory.
  [[nodiscard]] ExecUpdate set_enabled(const ExecNodes& of, std::uint32_t node, const Plan& plan,
                                       const Bindings& bindings);
  // Disables every node that `bindings` disables; for a new executable. Segments know those of
  // their commands.
  void disable_all(const ExecNodes& of, const Plan& plan, const Bindings& bindings);

 private:
  // A command of the graph's own recording or of a body, with its node.
  struct NodeTarget {
    const ExecNodes& of;
    cudaGraphExec_t exec;      // null: the source graph
    std::uint32_t first_node;  // of the enclosing recording, by number
    std::uint32_t first_key;   // likewise
    std::uint32_t in_lowered;  // in the lowered graph of that recording
    std::uint32_t command;
    // The graph's own node that contains it, which a refusal reports.
    std::uint32_t node;

    [[nodiscard]] cudaGraphNode_t handle() const { return of.nodes[first_node + in_lowered]; }
  };
  [[nodiscard]] ExecUpdate set_command(const NodeTarget& at, const Source& source,
                                       const BindingChange* change);
  [[nodiscard]] ExecUpdate set_bodies(const NodeTarget& at, const Source& source,
                                      const BindingChange* change);
  [[nodiscard]] ExecUpdate set_kernel(const NodeTarget& at, const Source& source);
  [[nodiscard]] ExecUpdate set_kernel_node(const NodeTarget& at,
                                           const CUDA_KERNEL_NODE_PARAMS& parameters);
  [[nodiscard]] ExecUpdate set_copy_node(const NodeTarget& at, const Source& source);
  [[nodiscard]] ExecUpdate set_host(const NodeTarget& at, const Source& source);
  [[nodiscard]] ExecUpdate set_op(const NodeTarget& at, const Source& source);
  [[nodiscard]] ExecUpdate set_fill_node(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                         const FillPayload& fill, const Bindings& bindings,
                                         bool is_disabled, std::uint32_t node);
  // The memory that a disabled fill writes.
  [[nodiscard]] std::byte* unused_memory(const FillPayload& fill);
  [[nodiscard]] ExecUpdate result_of(NativeApi api, std::int64_t code, const char* call,
                                     std::uint32_t node) const;

  const std::shared_ptr<const CudaContext> context_;
  const CudaKernel* const copy_;
  KernelArguments arguments_;
  std::map<std::uint64_t, std::unique_ptr<const CudaMemory>> unused_memory_;  // by size
  Bindings bindings_with_handles_;  // scratch: bindings with condition handles
};

// Converts the result of cudaGraphExecUpdate.
[[nodiscard]] GraphExecUpdateOutcome outcome_of(cudaGraphExecUpdateResult result) noexcept;

}  // namespace reprise::detail

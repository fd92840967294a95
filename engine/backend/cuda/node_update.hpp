// NodeUpdate: gives single nodes, of an executable or of the graph that it was made from, what a
// plan and its bindings say now. Launches before keep what they had. Threads: one at a time, which
// does not launch the executable meanwhile; its context is current.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/exec_nodes.hpp"
#include "backend/cuda/host_callbacks.hpp"
#include "backend/cuda/kernel_arguments.hpp"
#include "backend/cuda/op_capture.hpp"
#include "backend/cuda/staged_bytes.hpp"

namespace reprise::detail {

class NodeUpdate {
 public:
  // What nodes are given. All of it outlives the call.
  struct Source {
    const Plan& plan;
    const Bindings& bindings;
    StagedBytes& staged;
    RetainedResources& holdings;
    HostCallbacks* calls = nullptr;  // of host nodes; null: they stay
  };
  NodeUpdate(const CudaContext& context, const Recording& recording)
      : context_(context), arguments_(recording) {}

  // For the kernels of another recording, too.
  void make_room(const Recording& recording) { arguments_.make_room(recording); }
  // Parameters of a node of the lowered graph; of one that runs bodies, those that `change` reaches
  // in there. Refused: it is as it was, but for what it runs. Throws DeviceLost.
  [[nodiscard]] ExecUpdate set(const ExecNodes& of, std::uint32_t node, const Source& source,
                               const BindingChange* change = nullptr);
  // The same for a node of the graph itself, which launches do not know until the executable is
  // updated by it.
  [[nodiscard]] ExecUpdate set_in_graph(const ExecNodes& of, std::uint32_t node,
                                        const Source& source);
  // Whether it runs, by source.bindings.
  [[nodiscard]] ExecUpdate switch_on_or_off(const ExecNodes& of, std::uint32_t node,
                                            const Bindings& bindings);
  // The same for every node that is disabled; for an executable that is new.
  void disable_all(const ExecNodes& of, const Bindings& bindings);

 private:
  // A command, of the graph's own recording or of a body's, with the node that it became.
  struct Place {
    const ExecNodes& of;
    cudaGraphExec_t exec;      // null: in the graph itself
    std::uint32_t first_node;  // of the recording that it is in, by number
    std::uint32_t first_key;   // likewise
    std::uint32_t in_lowered;  // in the lowered graph of that recording
    std::uint32_t command;
    std::uint32_t
        node;  // the graph's own node that it runs in, which is told of where it is refused

    [[nodiscard]] cudaGraphNode_t handle() const { return of.nodes[first_node + in_lowered]; }
  };
  [[nodiscard]] ExecUpdate set_command(const Place& at, const Source& source,
                                       const BindingChange* change);
  [[nodiscard]] ExecUpdate set_bodies(const Place& at, const Source& source,
                                      const BindingChange* change);
  [[nodiscard]] ExecUpdate set_kernel(const Place& at, const Source& source);
  [[nodiscard]] ExecUpdate set_copy_of(const Place& at, const Source& source);
  [[nodiscard]] ExecUpdate set_host(const Place& at, const Source& source);
  [[nodiscard]] ExecUpdate set_op(const Place& at, const Source& source);
  [[nodiscard]] ExecUpdate result_of(NativeApi api, std::int64_t code, const char* call,
                                     std::uint32_t node) const;

  const CudaContext& context_;
  KernelArguments arguments_;
  Bindings bound_;  // scratch: with the handles of conditions
};

// What came of cudaGraphExecUpdate, as ours.
[[nodiscard]] GraphExecUpdateOutcome outcome_of(cudaGraphExecUpdateResult result) noexcept;

}  // namespace reprise::detail

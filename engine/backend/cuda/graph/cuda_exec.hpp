// CudaExec: an instantiated CUDA graph, its source graph, and the resources of its nodes. Threads:
// as BackendExec.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/graph/fault_markers.hpp"
#include "backend/cuda/graph/host_callbacks.hpp"
#include "backend/cuda/graph/loop_counters.hpp"
#include "backend/cuda/graph/node_update.hpp"
#include "backend/cuda/graph/op_capture.hpp"
#include "backend/cuda/graph/source_nodes.hpp"
#include "backend/cuda/graph/staged_bytes.hpp"
#include "backend/cuda/segments/cuda_segments.hpp"
#include "backend/cuda/timing/activity_times.hpp"
#include "backend/cuda/timing/boundary_timestamps.hpp"
#include "backend/cuda/timing/cuda_replay_source.hpp"

namespace reprise::detail {

class CudaGraphBuilder;

// The engine's own kernels in the nodes of a plan; null: the plan has no such node.
struct ExecKernels {
  std::shared_ptr<const CudaKernel> entry_exit;  // entry kernel, exit kernel and joins
  std::shared_ptr<const CudaKernel> copy;        // reprise_copy
};

class CudaExec final : public BackendExec {
 public:
  // `instrumentation` times the replays, and `nodes_by` (Timestamp or Cupti) their nodes; null: no
  // timing. `markers`, `loops`, `segments`: null if the plan has none.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
           const Bindings& bindings, ExecKernels kernels,
           std::shared_ptr<const CudaInstrumentation> instrumentation, TimedBy nodes_by,
           std::unique_ptr<const FaultMarkers> markers, std::unique_ptr<const LoopCounters> loops,
           std::unique_ptr<CudaSegments> segments);
  // Takes ownership of `graph`. `owner` keeps alive what its nodes use; `plan` names it.
  // `instrumentation` times the replays, not their nodes; null: no timing.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
           OwnedGraph graph, std::shared_ptr<const void> owner,
           std::shared_ptr<const CudaInstrumentation> instrumentation);
  CudaExec(const CudaExec&) = delete;
  CudaExec& operator=(const CudaExec&) = delete;
  ~CudaExec() override;

  void upload(BackendQueue& queue) override;
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override;
  // cuda_exec_update.cpp implements the changes.
  [[nodiscard]] ExecUpdate change(const BindingChange& change) override;
  [[nodiscard]] ExecUpdate change(const PlanChange& change) override;
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) override {
    return callbacks_.errors().of(replay);
  }
  [[nodiscard]] CallbackErrors::Unseen take_unseen_errors() override {
    return callbacks_.errors().take_unseen();
  }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished_nodes() const override;
  [[nodiscard]] std::vector<LoopCount> loop_counts() override {
    return loops_ ? loops_->read() : std::vector<LoopCount>();
  }
  [[nodiscard]] std::shared_ptr<ReplaySource> replay_source() const override { return source_; }
  [[nodiscard]] void* native() const noexcept override { return exec_; }
  [[nodiscard]] void* native_graph() const noexcept override { return graph_; }
  // A copy of the graph without boundary timestamps. The caller owns it.
  [[nodiscard]] cudaGraph_t clone_graph() const;
  [[nodiscard]] std::uint32_t node_count() const;  // without boundary timestamps

 private:
  // Resources of nodes besides buffers. Retained until the launches of their plan have completed.
  struct Resources {
    Resources() = default;
    Resources(std::shared_ptr<const CudaContext> context, const Recording& recording)
        : staged(std::move(context), recording) {}
    // For a plan of `recording` that replaces the plan of `before`.
    Resources(std::shared_ptr<const CudaContext> context, const Recording& recording,
              const Resources& before)
        : staged(std::move(context), recording, &before.staged) {}
    StagedBytes staged;
    RetainedResources retained;  // includes those of the profiling clone's ops
  };
  void destroy() noexcept;
  void destroy_clone() noexcept;  // under changing_, or exclusive access
  void drop_clone() noexcept;
  // True if all bound addresses are mapped; the caller holds UnmappedRanges.
  [[nodiscard]] bool has_mapped_pages() const;
  // These functions run under changing_. The nodes that the change affects get the values of
  // bindings_. A refused change leaves nodes and bindings_ as before.
  [[nodiscard]] ExecUpdate set_node(const ExecNodes& of, const BindingChange& change,
                                    std::uint32_t node);
  [[nodiscard]] ExecUpdate set_nodes(const ExecNodes& of, const BindingChange& change);
  // Restores bindings_ from undo_, and the first `count` nodes of the change.
  void undo_nodes(const ExecNodes& of, const BindingChange& change, std::size_t count);
  [[nodiscard]] ExecUpdate change_nodes(const PlanChange& change);
  [[nodiscard]] ExecUpdate change_whole(const PlanChange& change);
  // These update exec_ to `change`, with the resources in `resources`. The first sets the `nodes`
  // of exec_, and the second the differing nodes of graph_; it returns empty where it cannot.
  // `callbacks`: the set before the change.
  [[nodiscard]] ExecUpdate update_by_nodes(const PlanChange& change,
                                           std::span<const std::uint32_t> nodes,
                                           Resources& resources,
                                           const std::shared_ptr<HostCallbacks::Set>& callbacks);
  [[nodiscard]] std::optional<ExecUpdate> update_by_source(const PlanChange& change,
                                                           Resources& resources);
  [[nodiscard]] ExecUpdate update_by_new_graph(const PlanChange& change, Resources& resources,
                                               CudaSegments* segments);
  [[nodiscard]] ExecUpdate take_graph(cudaGraph_t graph, const CudaGraphBuilder* builder,
                                      const Plan& plan);
  // From the current plan and bindings, without timestamps.
  [[nodiscard]] OwnedGraph rebuild_graph() const;
  void switch_timestamps();
  // Both transfer an executable that is not in use to the GPU, and wait. Inside the gate.
  void transfer(cudaGraphExec_t exec, Stage stage) const;
  void transfer_exec(Stage stage);
  // Under changing_, after a graph of the plan was built.
  [[nodiscard]] std::vector<ActivityTimes::HostNode> time_host_nodes();
  // Any thread, under the source's mutex.
  [[nodiscard]] CudaReplaySource::ProfilingClone make_clone(TimedBy nodes_by);

  const std::shared_ptr<const CudaContext> context_;
  std::shared_ptr<const Plan> plan_;
  const ExecKernels kernels_;
  const std::unique_ptr<const FaultMarkers> markers_;  // null: the plan has none
  const std::unique_ptr<const LoopCounters> loops_;    // null: the plan has no loop
  // Shared by exec_ and the profiling clone. Null: the plan has no segments. Copies of the graph
  // run the dispatches as nodes.
  std::unique_ptr<CudaSegments> segments_;
  const std::shared_ptr<const void> owner_;
  std::shared_ptr<Resources> resources_;
  mutable HostCallbacks callbacks_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  bool has_conditionals_ = false;  // the same after every update
  BoundaryTimestamps boundary_;    // in graph_
  // All launches, launches with timestamps, and the difference as last reported to source_.
  std::uint64_t launches_ = 0, timestamped_ = 0, skipped_ = 0;
  TimestampMode timestamp_mode_ = TimestampMode::On;  // of exec_
  std::uint32_t epoch_ = 0;  // of the CUPTI session for which exec_ was made or last transferred
  // Guards plan_, bindings_, resources_ and the clone: changes run concurrently with the creation
  // of a clone; locked after the source's mutex.
  mutable std::mutex changing_;
  const TimingLayout timing_;  // layout of the reported times; unaffected by later plans
  Bindings bindings_;
  NodeUpdate update_;
  ExecNodes nodes_, clone_nodes_;  // empty for a graph of the application
  SourceNodes source_nodes_;       // in graph_
  BindingChange undo_;             // scratch, as old_value_
  std::vector<std::byte> old_value_;
  bool is_changed_ = false;                         // graph_ differs from exec_
  const std::shared_ptr<CudaReplaySource> source_;  // null: replays are not timed
  cudaGraph_t clone_graph_ = nullptr;
};

}  // namespace reprise::detail

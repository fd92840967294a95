// CudaExec: an instantiated CUDA graph, the graph it came from, and what its nodes point to.
// Threads: as BackendExec says.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/activity_times.hpp"
#include "backend/cuda/boundary_timestamps.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/cuda_replay_source.hpp"
#include "backend/cuda/fault_markers.hpp"
#include "backend/cuda/host_callbacks.hpp"
#include "backend/cuda/loop_counters.hpp"
#include "backend/cuda/node_update.hpp"
#include "backend/cuda/op_capture.hpp"
#include "backend/cuda/source_nodes.hpp"
#include "backend/cuda/staged_bytes.hpp"

namespace reprise::detail {

class CudaGraphBuilder;

class CudaExec final : public BackendExec {
 public:
  // `frame` is kept; null where the plan has no half of a frame and no join. `instruments` time the
  // replays, and `nodes_by` their nodes (Stamp or Cupti); null: nothing does. `markers`, `loops`:
  // null where the plan has none.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
           const Bindings& bindings, std::shared_ptr<const CudaKernel> entry_exit,
           std::shared_ptr<const CudaInstrumentation> instrumentation, TimedBy nodes_by,
           std::unique_ptr<const FaultMarkers> markers, std::unique_ptr<const LoopCounters> loops);
  // Of `graph` itself. `owner` keeps what its nodes use; `plan` names it. `instruments` time the
  // replays, not their nodes; null: nothing does.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan,
           OwnedGraph graph, std::shared_ptr<const void> owner,
           std::shared_ptr<const CudaInstrumentation> instrumentation);
  CudaExec(const CudaExec&) = delete;
  CudaExec& operator=(const CudaExec&) = delete;
  ~CudaExec() override;

  void upload(BackendQueue& queue) override;
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override;
  [[nodiscard]] ExecUpdate change(
      const BindingChange& change) override;  // the changes: cuda_exec_update.cpp
  [[nodiscard]] ExecUpdate change(const PlanChange& change) override;
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) const override {
    return calls_.error(replay);
  }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished_nodes() const override {
    return markers_ ? markers_->unfinished() : std::vector<UnfinishedNode>();
  }
  [[nodiscard]] std::vector<LoopCount> loop_counts() override {
    return loops_ ? loops_->read() : std::vector<LoopCount>();
  }
  [[nodiscard]] std::shared_ptr<ReplaySource> replay_source() const override { return source_; }
  [[nodiscard]] void* native() const noexcept override { return exec_; }
  [[nodiscard]] void* native_graph() const noexcept override { return graph_; }
  // A copy of the graph, the caller's, without stamps around it.
  [[nodiscard]] cudaGraph_t clone_graph() const;
  [[nodiscard]] std::uint32_t node_count() const;  // stamps around the graph are none of its nodes

 private:
  // What nodes point to, besides buffers: goes when the launches of its plan are over.
  struct Held {
    Held() = default;
    Held(std::shared_ptr<const CudaContext> context, const Recording& recording)
        : staged(std::move(context), recording) {}
    StagedBytes staged;
    RetainedResources holdings;  // of the twin's ops too
  };
  void destroy() noexcept;
  void destroy_clone() noexcept;  // under changing_, unless nobody else is there
  void drop_clone() noexcept;
  [[nodiscard]] bool has_pages() const;  // behind all addresses; while UnmappedPagesError are held
  // These under changing_. The first `count` nodes that the change reaches get what bindings_ says;
  // refused: they and bindings_ are as before.
  [[nodiscard]] ExecUpdate set_node(const ExecNodes& of, const BindingChange& change,
                                    std::uint32_t node);
  [[nodiscard]] ExecUpdate set_nodes(const ExecNodes& of, const BindingChange& change,
                                     std::size_t count);
  [[nodiscard]] ExecUpdate change_nodes(const PlanChange& change);
  [[nodiscard]] ExecUpdate change_whole(const PlanChange& change);
  // Both bring exec_ to what `change` says, with `held`; the first by graph_ itself, whose nodes
  // are told what is different: empty where they can't be.
  [[nodiscard]] std::optional<ExecUpdate> update_by_source(const PlanChange& change, Held& held);
  [[nodiscard]] ExecUpdate update_by_new_graph(const PlanChange& change, Held& held);
  [[nodiscard]] ExecUpdate take_graph(cudaGraph_t graph, const CudaGraphBuilder* builder,
                                      const Plan& plan);
  [[nodiscard]] OwnedGraph build_again()
      const;  // of the plan and the bindings as they are now, without stamps
  void switch_timestamps();
  void follow_epoch() noexcept;  // inside the gate
  [[nodiscard]] std::vector<ActivityTimes::HostNode>
  time_host_nodes();  // under changing_, once a graph has been built of the plan
  [[nodiscard]] CudaReplaySource::ProfilingClone make_clone(
      TimedBy nodes_by);  // any thread, under the source's mutex

  const std::shared_ptr<const CudaContext> context_;
  std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<const CudaKernel> entry_exit_;
  const std::unique_ptr<const FaultMarkers> markers_;  // null: the plan has none
  const std::unique_ptr<const LoopCounters> loops_;    // null: nothing is a loop
  const std::shared_ptr<const void> owner_;
  std::shared_ptr<Held> held_;
  mutable HostCallbacks calls_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  BoundaryTimestamps ends_;  // in graph_
  std::uint64_t launches_ = 0, timestamped_ = 0,
                skipped_ = 0;  // so far; with stamps; without, as source_ knows it
  TimestampMode timestamp_mode_ = TimestampMode::On;  // of exec_
  bool uploaded_ = false;
  std::uint32_t epoch_ = 0;      // of the CUPTI session, when exec_ was uploaded
  mutable std::mutex changing_;  // of plan_, bindings_, held_ and the twin: changes come beside
                                 // whoever makes a twin; after the source's mutex
  const TimingLayout slots_;     // where times go, whatever other recordings it is given
  Bindings bindings_;
  NodeUpdate update_;
  ExecNodes fast_nodes_, clone_nodes_;  // no nodes: of a graph of the application
  SourceNodes source_nodes_;            // in graph_
  BindingChange undo_;                  // scratch, as the next
  std::vector<std::byte> old_value_;
  bool is_changed_ = false;                         // graph_ is not what exec_ does any more
  const std::shared_ptr<CudaReplaySource> source_;  // null: replays are not timed
  cudaGraph_t clone_graph_ = nullptr;
};

}  // namespace reprise::detail

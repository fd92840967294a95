// CudaExec: an instantiated CUDA graph, the graph it came from, and what its nodes point to. Threads: as BackendExec says.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/fault_markers.hpp"
#include "backend/cuda/host_calls.hpp"
#include "backend/cuda/cuda_replay_source.hpp"
#include "backend/cuda/op_capture.hpp"
#include "backend/cuda/staged_bytes.hpp"
#include "backend/cuda/stamp_ends.hpp"

namespace reprise::detail {

class CudaExec final : public BackendExec {
 public:
  // `frame` is kept; null where the plan has no frame. `instruments` time the replays; null: nothing does. `markers`: null where the plan has none.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, const Bindings& bindings,
           std::shared_ptr<const CudaKernel> frame, std::shared_ptr<const CudaInstruments> instruments, std::unique_ptr<const FaultMarkers> markers);
  // Of `graph` itself. `owner` keeps what its nodes use; `plan` names it. `instruments` time the replays, not their nodes; null: nothing does.
  CudaExec(std::shared_ptr<const CudaContext> context, std::shared_ptr<const Plan> plan, OwnedGraph graph, std::shared_ptr<const void> owner,
           std::shared_ptr<const CudaInstruments> instruments);
  CudaExec(const CudaExec&) = delete;
  CudaExec& operator=(const CudaExec&) = delete;
  ~CudaExec() override;

  void upload(BackendQueue& queue) override;
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override;
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t replay) const override { return calls_.error(replay); }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished_nodes() const override {
    return markers_ ? markers_->unfinished() : std::vector<UnfinishedNode>();
  }
  [[nodiscard]] std::shared_ptr<ReplaySource> replay_source() const override { return source_; }
  [[nodiscard]] void* native() const noexcept override { return exec_; }
  [[nodiscard]] void* native_graph() const noexcept override { return graph_; }
  // A copy of the graph, the caller's, without stamps around it.
  [[nodiscard]] cudaGraph_t clone_graph() const;
  [[nodiscard]] std::uint32_t node_count() const;  // stamps around the graph are none of its nodes

 private:
  void destroy() noexcept;
  void switch_stamps();
  [[nodiscard]] CudaReplaySource::Twin make_twin();  // any thread, under the source's mutex

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<const CudaKernel> frame_;
  const std::unique_ptr<const FaultMarkers> markers_;  // null: the plan has none
  const std::shared_ptr<const void> owner_;
  StagedBytes staged_;
  HostCalls calls_;
  OpHoldings holdings_;  // of the twin's ops too
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  StampEnds ends_;  // in graph_
  std::uint64_t launches_ = 0, stamped_ = 0, skipped_ = 0;  // so far; with stamps; without, as source_ knows it
  Stamping stamping_ = Stamping::On;                        // of exec_
  bool uploaded_ = false;
  const Bindings bindings_;                          // for the twin
  const std::shared_ptr<CudaReplaySource> source_;  // null: replays are not timed
  cudaGraphExec_t twin_ = nullptr;
};

}  // namespace reprise::detail

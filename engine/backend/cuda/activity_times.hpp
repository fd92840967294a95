// ActivityTimes: the times of a twin's nodes as CUPTI saw them, put on the clock of the stamps around them: the two stamps are kernels that CUPTI saw
// too, so that each replay says itself how the clocks stood. Host commands tell their own times; what else CUPTI does not record has none.
// Threads: as NodeTimer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "profile/activity/activity_session.hpp"
#include "backend/cuda/host_times.hpp"
#include "backend/cuda/node_timer.hpp"
#include "backend/cuda/stamp_ends.hpp"
#include "lanes/lowered_graph.hpp"

namespace reprise::detail {

class ActivityTimes final : public NodeTimer {
 public:
  struct HostNode {
    std::uint32_t node = 0;  // lowered
    std::shared_ptr<const HostTimes> times;
  };
  // Before the twin is instantiated, in a window that is being opened. `nodes`: of its graph, by lowered node; `ends`: its stamps, where the
  // frame has none; `host`: its host commands.
  ActivityTimes(ActivitySession& session, const LoweredGraph& lowered, std::span<const cudaGraphNode_t> nodes, const StampEnds& ends,
             std::vector<HostNode> host);

  [[nodiscard]] TimedBy timed_by() const noexcept override { return TimedBy::Cupti; }
  [[nodiscard]] std::uint64_t rows() const noexcept override { return ~std::uint64_t{0}; }
  void gather() override { session_.flush(); }
  void note_gap() noexcept override;
  [[nodiscard]] std::string complaint() override;
  [[nodiscard]] Found find(const Wanted& wanted, const GpuClock& clock) override;
  void fill(NodeTime* times, const GpuClock& clock) override;

 private:
  [[nodiscard]] static std::shared_ptr<ActivitySession::Sink> claim_all(ActivitySession& session, const LoweredGraph& lowered,
                                                                     std::span<const cudaGraphNode_t> nodes, const StampEnds& ends);

  ActivitySession& session_;
  const std::shared_ptr<ActivitySession::Sink> sink_;
  const std::uint64_t dropped_before_;  // this
  std::uint64_t told_dropped_, told_untimed_ = 0;
  const std::vector<HostNode> host_;
  ReplayStamps replay_;        // that was found last
  std::uint64_t number_ = 0;   // of it
  std::vector<NodeRun> runs_;  // of it
};

// What has to be added to CUPTI's times of one replay, so that the stamps' kernels run when the stamps say. `began` and `ended`: the stamps.
[[nodiscard]] std::int64_t clock_offset(std::span<const NodeRun> runs, std::int64_t began, std::int64_t ended);

}  // namespace reprise::detail

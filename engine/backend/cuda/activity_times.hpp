// ActivityTimes: the times of a twin's nodes as CUPTI saw them, put on the clock of the stamps
// around them: the two stamps are kernels that CUPTI saw too, so that each replay says itself how
// the clocks stood. Host commands tell their own times; what else CUPTI does not record has none.
// How often bodies ran is counted on the device: rounds that CUPTI does not tell of are known to be
// missing. Threads: as NodeTimer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/cuda/body_graph.hpp"
#include "backend/cuda/body_timestamps.hpp"
#include "backend/cuda/boundary_timestamps.hpp"
#include "backend/cuda/host_times.hpp"
#include "backend/cuda/node_timer.hpp"
#include "lowering/lowered_graph.hpp"
#include "profile/activity/activity_session.hpp"

namespace reprise::detail {

class ActivityTimes final : public NodeTimer {
 public:
  struct HostNode {
    std::uint32_t node = 0;  // lowered
    std::shared_ptr<const HostTimes> times;
  };
  // A graph that a twin is to be made of.
  struct Graph {
    cudaGraph_t graph = nullptr;
    const LoweredGraph& lowered;
    std::span<const cudaGraphNode_t> nodes;  // by lowered node
    std::span<const BodyGraph> bodies;       // by number
    const BoundaryTimestamps& ends;          // where the frame has none
  };
  // Before the twin is instantiated, in a window that is being opened. `bodies` counts their
  // rounds; null where there are none to be counted. `host`: its host commands.
  ActivityTimes(ActivitySession& session, const Graph& graph, const TimingLayout& slots,
                std::unique_ptr<BodyTimestamps> bodies, std::vector<HostNode> host);

  [[nodiscard]] TimedBy timed_by() const noexcept override { return TimedBy::Cupti; }
  [[nodiscard]] std::uint64_t rows() const noexcept override {
    return bodies_ ? bodies_->rows() : ~std::uint64_t{0};
  }
  void gather() override { session_.flush(); }
  void note_gap() noexcept override;
  [[nodiscard]] std::string complaint() override;
  [[nodiscard]] Found find(const Wanted& wanted, const GpuClock& clock) override;
  void fill(NodeTime* times, const GpuClock& clock) override;

 private:
  // How many records each run of a node in a body leaves, by the node's number.
  struct Claimed {
    std::shared_ptr<ActivitySession::Sink> sink;
    std::vector<std::uint32_t> records;
  };
  [[nodiscard]] static Claimed claim_all(ActivitySession& session, const Graph& graph,
                                         const TimingLayout& slots);
  [[nodiscard]] std::uint64_t rounds_of_body(std::uint32_t body) const;
  [[nodiscard]] std::size_t runs_in_bodies() const;
  void fill_inside(NodeTime* times, std::uint32_t node, std::int64_t started, std::int64_t ended);

  ActivitySession& session_;
  const TimingLayout slots_;
  const Claimed claimed_;
  const std::unique_ptr<BodyTimestamps> bodies_;
  const std::uint64_t dropped_before_;  // this
  std::uint64_t told_dropped_, told_untimed_ = 0;
  const std::vector<HostNode> host_;
  ReplayTimestamps replay_;          // that was found last
  std::uint64_t number_ = 0;         // of it
  std::vector<NodeRun> runs_;        // of it
  std::vector<std::uint32_t> told_;  // of each node in a body: records of it so far
};

// What has to be added to CUPTI's times of one replay, so that the stamps' kernels run when the
// stamps say. `began` and `ended`: the stamps.
[[nodiscard]] std::int64_t clock_offset(std::span<const NodeRun> runs, std::int64_t began,
                                        std::int64_t ended);

}  // namespace reprise::detail

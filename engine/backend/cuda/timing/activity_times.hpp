// ActivityTimes: the node times of a profiling clone as CUPTI records, moved to the GPU clock of
// the boundary timestamps. CUPTI also records the two timestamp kernels, so each replay yields its
// own clock offset. Host callbacks report their own times. Other nodes that CUPTI does not record
// have no times. The device counts the iterations of bodies, which reveals missing records.
// Threads: as NodeTimer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/cuda/body_graph.hpp"
#include "backend/cuda/timing/body_timestamps.hpp"
#include "backend/cuda/timing/boundary_timestamps.hpp"
#include "backend/cuda/timing/host_times.hpp"
#include "backend/cuda/timing/node_timer.hpp"
#include "lowering/lowered_graph.hpp"
#include "profile/activity/activity_session.hpp"

namespace reprise::detail {

class ActivityTimes final : public NodeTimer {
 public:
  struct HostNode {
    std::uint32_t node = 0;  // lowered
    std::shared_ptr<const HostTimes> times;
  };
  // The source graph of a profiling clone.
  struct Graph {
    cudaGraph_t graph = nullptr;
    const LoweredGraph& lowered;
    std::span<const cudaGraphNode_t> nodes;  // by lowered node
    std::span<const BodyGraph> bodies;       // by number
    const BoundaryTimestamps& boundary;      // for graphs without entry or exit kernel
  };
  // Constructed before the clone is instantiated, while the CUPTI window opens. `bodies` counts
  // iterations; null: no body needs counting. `host`: the clone's host commands.
  ActivityTimes(ActivitySession& session, const Graph& graph, const TimingLayout& timing,
                std::unique_ptr<BodyTimestamps> bodies, std::vector<HostNode> host);

  [[nodiscard]] TimedBy timed_by() const noexcept override { return TimedBy::Cupti; }
  [[nodiscard]] std::uint64_t rows() const noexcept override {
    return bodies_ ? bodies_->rows() : ~std::uint64_t{0};
  }
  void flush() override { session_.flush(); }
  void mark_gap() noexcept override;
  [[nodiscard]] std::string warning() override;
  [[nodiscard]] FindResult find(const Request& request, const GpuClock& clock) override;
  void fill(NodeTime* times, const GpuClock& clock) override;

 private:
  // `records`: records per run of a node, by index.
  struct Claimed {
    std::shared_ptr<ActivitySession::Sink> sink;
    std::vector<std::uint32_t> records;
  };
  [[nodiscard]] static Claimed claim_all(ActivitySession& session, const Graph& graph,
                                         const TimingLayout& timing);
  [[nodiscard]] std::uint64_t iterations_of_body(std::uint32_t body) const;
  [[nodiscard]] std::size_t runs_in_bodies() const;
  void fill_body_node(NodeTime* times, std::uint32_t node, std::int64_t started,
                      std::int64_t ended);

  ActivitySession& session_;
  const TimingLayout timing_;
  const Claimed claimed_;
  const std::unique_ptr<BodyTimestamps> bodies_;
  const std::uint64_t dropped_before_;  // of this object
  std::uint64_t reported_dropped_, reported_untimed_ = 0;
  const std::vector<HostNode> host_;
  ReplayTimestamps replay_;                  // the replay found last
  std::uint64_t number_ = 0;                 // its number
  std::vector<NodeRun> runs_;                // its runs
  std::vector<std::uint32_t> used_records_;  // by node: records assigned so far
};

// The offset to add to CUPTI's times of one replay so that the runs of the timestamp kernels
// contain their timestamps. `started` and `ended`: the timestamps.
[[nodiscard]] std::int64_t clock_offset(std::span<const NodeRun> runs, std::int64_t started,
                                        std::int64_t ended);

}  // namespace reprise::detail

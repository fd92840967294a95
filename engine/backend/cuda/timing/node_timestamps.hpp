// NodeTimestamps: the end times of nodes, written to device memory by a one-thread kernel behind
// every node of a profiling clone. A node starts when its last predecessor has ended, so its time
// includes the launch of the timestamp kernel, about a microsecond. The commands of segments time
// themselves, without that (segment_times.hpp). Threads: as TimestampRing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/timing/body_timestamps.hpp"
#include "backend/cuda/timing/node_timer.hpp"
#include "backend/cuda/timing/readback.hpp"
#include "backend/cuda/timing/segment_times.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

class NodeTimestamps final : public NodeTimer {
 public:
  // Upper limit of rows(); memory use may reduce it further, to one at least.
  static constexpr std::uint32_t kMaxRows = 1024;

  NodeTimestamps(std::shared_ptr<const CudaContext> context, std::shared_ptr<Readback> readback,
                 const Plan& plan, const TimingLayout& timing);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  [[nodiscard]] TimedBy timed_by() const noexcept override { return TimedBy::Timestamp; }
  [[nodiscard]] std::uint64_t rows() const noexcept override { return rows_; }
  [[nodiscard]] std::uint32_t nodes() const noexcept {
    return static_cast<std::uint32_t>(lowered_.nodes.size());
  }
  // Null for a plan without bodies.
  [[nodiscard]] const BodyTimestamps* bodies() const noexcept { return bodies_.get(); }
  // Null for a plan without segments.
  [[nodiscard]] const SegmentTimes* segments() const noexcept { return segments_.get(); }
  // Fetches the replay's row. Lost if a later replay may have overwritten it.
  [[nodiscard]] FindResult find(const Request& request, const GpuClock& clock) override;
  void fill(NodeTime* times, const GpuClock& clock) override;  // entry and exit kernels keep 0

 private:
  void fill_segments(NodeTime* times, const GpuClock& clock);

  const std::shared_ptr<Readback> readback_;
  // A copy: this object outlives the plan and must not retain its resources.
  const LoweredGraph lowered_;
  const std::unique_ptr<BodyTimestamps> bodies_;
  const std::unique_ptr<SegmentTimes> segments_;
  const std::uint32_t rows_;
  const InstrumentationMemory memory_;
  std::vector<std::uint64_t> row_;
  std::vector<SegmentNodeTime> in_segments_;  // empty without segments
  ReplayTimestamps found_;
};

}  // namespace reprise::detail

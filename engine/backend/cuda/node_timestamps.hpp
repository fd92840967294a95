// NodeTimestamps: when each node of some replays ended, noted by a one-thread kernel behind every
// node of a twin, in device memory. A node began when the last of those before it had ended: the
// stamp's own launch counts as the node's time, about a microsecond. Threads: as TimestampRing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/body_timestamps.hpp"
#include "backend/cuda/node_timer.hpp"
#include "backend/cuda/readback.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

class NodeTimestamps final : public NodeTimer {
 public:
  // Room for as many replays in a row as kMostRows and some megabytes allow, and for one at least.
  static constexpr std::uint32_t kMostRows = 1024;

  NodeTimestamps(std::shared_ptr<const CudaContext> context, std::shared_ptr<Readback> readback,
                 const Plan& plan, const TimingLayout& slots);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  [[nodiscard]] TimedBy timed_by() const noexcept override { return TimedBy::Timestamp; }
  [[nodiscard]] std::uint64_t rows() const noexcept override { return rows_; }
  [[nodiscard]] std::uint32_t nodes() const noexcept {
    return static_cast<std::uint32_t>(lowered_.nodes.size());
  }
  [[nodiscard]] const BodyTimestamps* bodies() const noexcept {
    return bodies_.get();
  }  // null where nothing runs any
  // Lost where a later replay may have written over it.
  [[nodiscard]] Found find(const Wanted& wanted, const GpuClock& clock) override;
  void fill(NodeTime* times, const GpuClock& clock) override;  // nodes of the frame keep 0

 private:
  const std::shared_ptr<Readback> readback_;
  const LoweredGraph lowered_;  // a copy: this outlives the plan, and must not keep alive what the
                                // plan keeps alive
  const std::unique_ptr<BodyTimestamps> bodies_;
  const std::uint32_t rows_;
  const InstrumentationMemory memory_;
  std::vector<std::uint64_t> row_;
  ReplayTimestamps found_;
};

}  // namespace reprise::detail

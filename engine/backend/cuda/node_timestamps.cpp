#include "backend/cuda/node_timestamps.hpp"

#include <algorithm>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxWords = std::size_t{1} << 20;

std::uint32_t rows_for(const LoweredGraph& lowered, const BodyTimestamps* bodies) {
  const std::size_t fit = kMaxWords / std::max<std::size_t>(1, lowered.nodes.size());
  const auto rows =
      static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 1, NodeTimestamps::kMaxRows));
  return bodies == nullptr ? rows : std::min(rows, bodies->rows());
}

}  // namespace

NodeTimestamps::NodeTimestamps(std::shared_ptr<const CudaContext> context,
                               std::shared_ptr<Readback> readback, const Plan& plan,
                               const TimingLayout& timing)
    : readback_(std::move(readback)),
      lowered_(plan.lowered),
      bodies_(BodyTimestamps::make(context, readback_, plan, timing, BodyTimestamps::Keep::Times)),
      rows_(rows_for(lowered_, bodies_.get())),
      memory_(std::move(context), *readback_, std::size_t{rows_} * lowered_.nodes.size()),
      row_(lowered_.nodes.size()) {}

NodeTimer::FindResult NodeTimestamps::find(const Request& request, const GpuClock& /*clock*/) {
  found_ = request.replay;
  return request.replay.replay + rows_ > request.newest ? FindResult::Times : FindResult::Lost;
}

void NodeTimestamps::fill(NodeTime* times, const GpuClock& clock) {
  readback_->read(memory() + found_.replay % rows_ * lowered_.nodes.size(), row_);
  for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
    if (lowered_.nodes[node].kind != LoweredKind::Work || row_[node] == 0) continue;
    std::uint64_t ready = found_.started;
    for (const LoweredEdge& edge : lowered_.edges_into(node)) {
      if (lowered_.nodes[edge.from].kind == LoweredKind::Work)
        ready = std::max(ready, row_[edge.from]);
    }
    const std::int64_t started = clock.to_host(ready),
                       ended = clock.to_host(std::max(row_[node], ready));
    times[node].started = started;
    times[node].duration = saturated_ns(ended - started);
  }
  if (!bodies_) return;
  bodies_->read(found_.replay);
  bodies_->fill(times, clock);
}

}  // namespace reprise::detail

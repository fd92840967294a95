#include "backend/cuda/timing/node_timestamps.hpp"

#include <algorithm>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxWords = std::size_t{1} << 20;

std::uint32_t rows_for(const LoweredGraph& lowered, const BodyTimestamps* bodies,
                       const SegmentTimes* segments) {
  const std::size_t fit = kMaxWords / std::max<std::size_t>(1, lowered.nodes.size());
  auto rows = static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 1, NodeTimestamps::kMaxRows));
  if (bodies != nullptr) rows = std::min(rows, bodies->rows());
  if (segments != nullptr) rows = std::min(rows, segments->rows());
  return rows;
}

}  // namespace

NodeTimestamps::NodeTimestamps(std::shared_ptr<const CudaContext> context,
                               std::shared_ptr<Readback> readback, const Plan& plan,
                               const TimingLayout& timing)
    : readback_(std::move(readback)),
      lowered_(plan.lowered),
      bodies_(BodyTimestamps::make(context, readback_, plan, timing, BodyTimestamps::Keep::Times)),
      segments_(SegmentTimes::make(context, readback_, plan)),
      rows_(rows_for(lowered_, bodies_.get(), segments_.get())),
      memory_(std::move(context), std::size_t{rows_} * lowered_.nodes.size()),
      row_(lowered_.nodes.size()),
      in_segments_(segments_ ? lowered_.nodes.size() : 0) {}

NodeTimer::FindResult NodeTimestamps::find(const Request& request, const GpuClock& /*clock*/) {
  found_ = request.replay;
  const auto is_kept = [&] { return found_.replay + rows_ > request.newest.load(); };
  if (!is_kept()) return FindResult::Lost;
  readback_->read(memory() + found_.replay % rows_ * lowered_.nodes.size(), row_);
  if (segments_) segments_->read(found_, in_segments_);
  if (bodies_) bodies_->read(found_.replay);
  return is_kept() ? FindResult::Times : FindResult::Lost;
}

void NodeTimestamps::fill(NodeTime* times, const GpuClock& clock) {
  if (segments_) fill_segments(times, clock);
  for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
    if (lowered_.nodes[node].kind != LoweredKind::Work || row_[node] == 0) continue;
    if (segments_ && lowered_.segment_of(node) != kNone) continue;
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
  if (bodies_) bodies_->fill(times, clock);
}

// A segment ends as a whole.
void NodeTimestamps::fill_segments(NodeTime* times, const GpuClock& clock) {
  for (const Segment& segment : lowered_.segments) {
    const std::span own = std::span(row_).subspan(segment.first_node, segment.nodes);
    std::uint64_t end = 0;
    for (std::uint32_t node = segment.first_node; node < segment.first_node + segment.nodes;
         ++node) {
      const SegmentNodeTime& time = in_segments_[node];
      if (time.started == 0) continue;
      end = std::max(end, time.ended);
      const std::int64_t started = clock.to_host(time.started);
      times[node].started = started;
      times[node].duration =
          saturated_ns(clock.to_host(std::max(time.ended, time.started)) - started);
      times[node].worker = static_cast<std::uint16_t>(time.multiprocessor + 1);
    }
    std::fill(own.begin(), own.end(), end);
  }
}

}  // namespace reprise::detail

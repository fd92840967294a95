#include "backend/cuda/activity_times.hpp"

#include <algorithm>
#include <optional>

#include "backend/cuda/cuda_check.hpp"
#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// By which CUPTI's clock and ours may differ: both are fitted to the host's.
constexpr std::int64_t kClocksApart = 20'000;  // ns

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", {Stage::Profile});
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) cuda_check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes", {Stage::Profile});
  return nodes;
}

cudaGraphNodeType type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cuda_check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType", {Stage::Profile});
  return type;
}

bool leaves_records(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeMemset;
}

// Claims the nodes of one graph, and those inside its child graphs. What is inside of those again has no time: CUDA's order of it is not known.
class Claims {
 public:
  Claims(ActivitySession& session, std::shared_ptr<ActivitySession::Sink> sink, std::uint32_t nodes_of_graph)
      : session_(session), sink_(std::move(sink)), next_inside_(nodes_of_graph) {}

  void add(cudaGraphNode_t node, std::uint32_t place) {
    const cudaGraphNodeType type = type_of(node);
    if (leaves_records(type)) {
      session_.claim(node, place, sink_);
      ++count_;
    }
    if (type == cudaGraphNodeTypeGraph) add_inside(node, place);
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  void add_inside(cudaGraphNode_t child, std::uint32_t place) {
    cudaGraph_t graph = nullptr;
    cuda_check(cudaGraphChildGraphNodeGetGraph(child, &graph), "cudaGraphChildGraphNodeGetGraph", {Stage::Profile});
    for (const cudaGraphNode_t node : nodes_of(graph)) {
      const std::uint32_t number = next_inside_++;
      if (!leaves_records(type_of(node))) continue;
      session_.claim_inside(child, number, place, sink_);
      ++count_;
    }
  }

  ActivitySession& session_;
  const std::shared_ptr<ActivitySession::Sink> sink_;
  std::uint32_t next_inside_;
  std::size_t count_ = 0;
};

std::uint32_t place_of(const LoweredGraph& lowered, std::uint32_t node) {
  switch (lowered.nodes[node].kind) {
    case LoweredKind::FrameBegin: return NodeRun::kBegin;
    case LoweredKind::FrameEnd: return NodeRun::kEnd;
    case LoweredKind::Work: break;
  }
  return node;
}

}  // namespace

std::shared_ptr<ActivitySession::Sink> ActivityTimes::claim_all(ActivitySession& session, const LoweredGraph& lowered,
                                                                std::span<const cudaGraphNode_t> nodes, const StampEnds& ends) {
  auto sink = std::make_shared<ActivitySession::Sink>();
  Claims claims(session, sink, static_cast<std::uint32_t>(nodes.size() + (ends ? 2 : 0)));
  for (std::uint32_t i = 0; i < nodes.size(); ++i) claims.add(nodes[i], place_of(lowered, i));
  if (ends) {
    claims.add(ends.begin, NodeRun::kBegin);
    claims.add(ends.end, NodeRun::kEnd);
  }
  sink->runs = ReplayRuns(claims.count());
  return sink;
}

ActivityTimes::ActivityTimes(ActivitySession& session, const LoweredGraph& lowered, std::span<const cudaGraphNode_t> nodes, const StampEnds& ends,
                       std::vector<HostNode> host)
    : session_(session), sink_(claim_all(session, lowered, nodes, ends)), dropped_before_(session.dropped()), told_dropped_(dropped_before_), host_(std::move(host)) {}

void ActivityTimes::note_gap() noexcept {
  const std::lock_guard lock(sink_->mutex);
  sink_->runs.note_lost();
}

std::string ActivityTimes::complaint() {
  const std::uint64_t dropped = session_.dropped();
  std::uint64_t untimed = 0;
  {
    const std::lock_guard lock(sink_->mutex);
    untimed = sink_->untimed;
  }
  if (dropped == told_dropped_ && untimed == told_untimed_) return {};
  std::string text = concat("CUPTI lost ", dropped - told_dropped_, " records for want of room, and the times of ", untimed - told_untimed_,
                            " more; their replays lack nodes");
  told_dropped_ = dropped;
  told_untimed_ = untimed;
  return text;
}

NodeTimer::Found ActivityTimes::find(const Wanted& wanted, const GpuClock& clock) {
  replay_ = wanted.replay;
  number_ = wanted.number;
  const bool lost = session_.dropped() != dropped_before_;
  const std::lock_guard lock(sink_->mutex);
  if (lost) sink_->runs.note_lost();
  auto runs = sink_->runs.take({clock.to_host(replay_.began), kClocksApart,
                                wanted.rest == Rest::IsHere ? ReplayRuns::More::NotToCome : ReplayRuns::More::ToCome});
  if (!runs) return Found::NotYet;
  runs_ = std::move(*runs);
  return runs_.empty() ? Found::Lost : Found::Times;
}

void ActivityTimes::fill(NodeTime* times, const GpuClock& clock) {
  const std::int64_t offset = clock_offset(runs_, clock.to_host(replay_.began), clock.to_host(replay_.ended));
  for (const NodeRun& run : runs_) {
    if (run.node >= NodeRun::kBegin) continue;
    NodeTime& time = times[run.node];
    const std::int64_t started = run.started + offset, ended = run.ended + offset;
    const std::int64_t first = time.started == 0 ? started : std::min(time.started, started);
    const std::int64_t last = time.started == 0 ? ended : std::max(time.started + time.duration, ended);
    time.started = first;
    time.duration = saturated_ns(last - first);
  }
  for (const HostNode& host : host_) {
    if (const auto span = host.times->find(number_)) times[host.node] = {span->started, saturated_ns(span->ended - span->started), 0};
  }
}

std::int64_t clock_offset(std::span<const NodeRun> runs, std::int64_t began, std::int64_t ended) {
  // A stamp is taken while its kernel runs: between `low` and `high` both are.
  std::optional<std::int64_t> low, high;
  const auto narrow = [&](const NodeRun& run, std::int64_t stamp) {
    low = std::max(low.value_or(stamp - run.ended), stamp - run.ended);
    high = std::min(high.value_or(stamp - run.started), stamp - run.started);
  };
  for (const NodeRun& run : runs) {
    if (run.node == NodeRun::kBegin) narrow(run, began);
    if (run.node == NodeRun::kEnd) narrow(run, ended);
  }
  if (!low) return 0;
  return *low <= *high ? std::clamp<std::int64_t>(0, *low, *high) : *low + (*high - *low) / 2;
}

}  // namespace reprise::detail

#include "backend/cuda/timing/activity_times.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "backend/cuda/cuda_check.hpp"
#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// Maximum difference between CUPTI's clock and the GPU clock after both are fitted to the host's.
constexpr std::int64_t kMaxClockDifference = 20'000;  // ns

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", {Stage::Profile});
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0)
    cuda_check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes",
               {Stage::Profile});
  return nodes;
}

cudaGraphNodeType type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cuda_check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType", {Stage::Profile});
  return type;
}

bool leaves_records(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset;
}

// Claims the nodes of one graph, of its child graphs and of bodies.
class Claims {
 public:
  Claims(ActivitySession& session, std::shared_ptr<ActivitySession::Sink> sink,
         const TimingLayout& timing, std::span<const BodyGraph> bodies)
      : session_(session), sink_(std::move(sink)), records_(timing.nodes) {
    for (std::uint32_t body = 0; body < bodies.size(); ++body) {
      bodies_[bodies[body].parent].push_back(bodies[body].graph);
      for (std::uint32_t i = 0; i < bodies[body].nodes.size(); ++i)
        indices_.emplace(bodies[body].nodes[i], timing.bodies[body].first_node + i);
    }
  }

  // Claims a node of the graph itself.
  void add(cudaGraphNode_t node, std::uint32_t index) {
    indices_.emplace(node, index);
    if (!leaves_records(type_of(node))) return;
    session_.claim(node, index, sink_);
    count(index);
  }
  // Claims the nodes inside the added nodes. Called after the last add().
  void add_nested(cudaGraph_t graph) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    next_ = static_cast<std::uint32_t>(nodes.size());
    for (const cudaGraphNode_t node : nodes) add_nested_node(node, node, index_of(node));
  }
  // Records per replay of the graph's own nodes, timestamp kernels included.
  [[nodiscard]] std::size_t own_records() const noexcept { return own_records_; }
  // By index: records per run of a node.
  [[nodiscard]] std::vector<std::uint32_t> take_records() noexcept { return std::move(records_); }

 private:
  [[nodiscard]] std::uint32_t index_of(cudaGraphNode_t node) const {
    const auto at = indices_.find(node);
    return at == indices_.end() ? kNone : at->second;  // an instrumentation node has no index
  }
  void count(std::uint32_t index) {
    if (index < records_.size()) ++records_[index];
    if (index >= NodeRun::kBegin) ++own_records_;
  }
  // `of`: the enclosing node of the graph itself.
  void add_nested_node(cudaGraphNode_t node, cudaGraphNode_t of, std::uint32_t index) {
    if (const auto bodies = bodies_.find(node); bodies != bodies_.end()) {
      for (const cudaGraph_t graph : bodies->second) add_graph(graph, of, kNone);
    } else if (type_of(node) == cudaGraphNodeTypeGraph) {
      cudaGraph_t graph = nullptr;
      cuda_check(cudaGraphChildGraphNodeGetGraph(node, &graph), "cudaGraphChildGraphNodeGetGraph",
                 {Stage::Profile});
      add_graph(graph, of, index);
    }
  }
  // `index`: the index of everything in the graph; kNone: each node has its own.
  void add_graph(cudaGraph_t graph, cudaGraphNode_t of, std::uint32_t index) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    const std::uint32_t first = next_;
    next_ += static_cast<std::uint32_t>(nodes.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t at = index == kNone ? index_of(nodes[i]) : index;
      if (at == kNone || !leaves_records(type_of(nodes[i]))) continue;
      session_.register_inner_node(of, first + i, at, sink_);
      count(at);
    }
    for (const cudaGraphNode_t node : nodes)
      add_nested_node(node, of, index == kNone ? index_of(node) : index);
  }

  ActivitySession& session_;
  const std::shared_ptr<ActivitySession::Sink> sink_;
  std::unordered_map<cudaGraphNode_t, std::uint32_t> indices_;
  // By the node that runs them.
  std::unordered_map<cudaGraphNode_t, std::vector<cudaGraph_t>> bodies_;
  std::vector<std::uint32_t> records_;
  std::size_t own_records_ = 0;
  std::uint32_t next_ = 0;
};

// Extends `time` to cover another run.
void cover(NodeTime& time, std::int64_t started, std::int64_t ended) {
  const std::int64_t first = time.started == 0 ? started : std::min(time.started, started);
  const std::int64_t last =
      time.started == 0 ? ended : std::max(time.started + time.duration, ended);
  time.started = first;
  time.duration = saturated_ns(last - first);
}

std::uint32_t index_of(const LoweredGraph& lowered, std::uint32_t node) {
  switch (lowered.nodes[node].kind) {
    case LoweredKind::Entry: return NodeRun::kBegin;
    case LoweredKind::Exit: return NodeRun::kEnd;
    case LoweredKind::Work: break;
  }
  return node;
}

}  // namespace

ActivityTimes::Claimed ActivityTimes::claim_all(ActivitySession& session, const Graph& graph,
                                                const TimingLayout& timing) {
  auto sink = std::make_shared<ActivitySession::Sink>();
  Claims claims(session, sink, timing, graph.bodies);
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    claims.add(graph.nodes[i], index_of(graph.lowered, i));
  if (graph.boundary.begin != nullptr) claims.add(graph.boundary.begin, NodeRun::kBegin);
  if (graph.boundary.end != nullptr) claims.add(graph.boundary.end, NodeRun::kEnd);
  claims.add_nested(graph.graph);
  std::size_t own = claims.own_records();
  std::vector<std::uint32_t> records = claims.take_records();
  for (std::uint32_t node = 0; node < timing.own_nodes; ++node) own += records[node];
  sink->runs = ReplayRuns(own);
  return {std::move(sink), std::move(records)};
}

ActivityTimes::ActivityTimes(ActivitySession& session, const Graph& graph,
                             const TimingLayout& timing, std::unique_ptr<BodyTimestamps> bodies,
                             std::vector<HostNode> host)
    : session_(session),
      timing_(timing),
      claimed_(claim_all(session, graph, timing_)),
      bodies_(std::move(bodies)),
      dropped_before_(session.dropped()),
      reported_dropped_(dropped_before_),
      host_(std::move(host)),
      used_records_(timing_.nodes) {}

// How often a body ran in the replay that was read last. A body without a counter runs as often as
// its parent.
std::uint64_t ActivityTimes::iterations_of_body(std::uint32_t body) const {
  if (bodies_) return bodies_->iterations_of_body(body);
  return 1;
}

std::size_t ActivityTimes::runs_in_bodies() const {
  std::size_t runs = 0;
  for (std::uint32_t body = 0; body < timing_.bodies.size(); ++body) {
    const BodyLayout& layout = timing_.bodies[body];
    for (std::uint32_t node = 0; node < layout.nodes; ++node)
      runs += iterations_of_body(body) * claimed_.records[layout.first_node + node];
  }
  return runs;
}

void ActivityTimes::mark_gap() noexcept {
  const std::lock_guard lock(claimed_.sink->mutex);
  claimed_.sink->runs.mark_lost();
}

std::string ActivityTimes::warning() {
  const std::uint64_t dropped = session_.dropped();
  std::uint64_t untimed = 0;
  {
    const std::lock_guard lock(claimed_.sink->mutex);
    untimed = claimed_.sink->untimed;
  }
  if (dropped == reported_dropped_ && untimed == reported_untimed_) return {};
  std::string text = concat("CUPTI lost ", dropped - reported_dropped_,
                            " records because its buffers were full, and the times of ",
                            untimed - reported_untimed_, " more; their replays lack nodes");
  reported_dropped_ = dropped;
  reported_untimed_ = untimed;
  return text;
}

NodeTimer::FindResult ActivityTimes::find(const Request& request, const GpuClock& clock) {
  replay_ = request.replay;
  number_ = request.number;
  // A later replay may have overwritten the counts.
  if (bodies_ && request.replay.replay + bodies_->rows() <= request.newest.load()) {
    mark_gap();
    return FindResult::Lost;
  }
  if (bodies_) bodies_->read(replay_.replay);
  const std::size_t body_runs = runs_in_bodies();
  const bool lost = session_.dropped() != dropped_before_;
  const std::lock_guard lock(claimed_.sink->mutex);
  if (lost) claimed_.sink->runs.mark_lost();
  auto runs = claimed_.sink->runs.take({clock.to_host(replay_.started), kMaxClockDifference,
                                        request.remaining == Remaining::None
                                            ? ReplayRuns::More::NoneExpected
                                            : ReplayRuns::More::Expected,
                                        body_runs});
  if (!runs) return FindResult::Pending;
  runs_ = std::move(*runs);
  return runs_.empty() ? FindResult::Lost : FindResult::Times;
}

void ActivityTimes::fill(NodeTime* times, const GpuClock& clock) {
  const std::int64_t offset =
      clock_offset(runs_, clock.to_host(replay_.started), clock.to_host(replay_.ended));
  for (std::uint32_t body = 0; body < timing_.bodies.size(); ++body)
    set_iterations(times[timing_.bodies[body].first_slot], iterations_of_body(body));
  std::fill(used_records_.begin(), used_records_.end(), 0);
  for (const NodeRun& run : runs_) {
    if (run.node >= NodeRun::kBegin) continue;
    const std::int64_t started = run.started + offset, ended = run.ended + offset;
    if (run.node < timing_.own_nodes) {
      cover(times[run.node], started, ended);
    } else {
      fill_body_node(times, run.node, started, ended);
    }
  }
  for (const HostNode& host : host_) {
    if (const auto span = host.times->find(number_))
      times[host.node] = {span->started, saturated_ns(span->ended - span->started), 0};
  }
}

// The first records of a node belong to its first iteration, and so on. A node that runs a body has
// no record: its time covers the nodes of the body.
void ActivityTimes::fill_body_node(NodeTime* times, std::uint32_t node, std::int64_t started,
                                   std::int64_t ended) {
  const std::uint64_t iteration = used_records_[node]++ / std::max(1u, claimed_.records[node]);
  bool is_iteration_known = true;
  for (;;) {
    if (node < timing_.own_nodes) return cover(times[node], started, ended);
    const BodyLayout& layout = timing_.bodies[timing_.body_of(node)];
    if (is_iteration_known && iteration < layout.kept)
      cover(times[layout.slot(node - layout.first_node, iteration)], started, ended);
    // Iterations of a branch or a loop do not match the iterations of its parent.
    is_iteration_known = is_iteration_known && layout.kind == BodyLayout::Kind::Nested;
    node = layout.parent;
  }
}

std::int64_t clock_offset(std::span<const NodeRun> runs, std::int64_t started, std::int64_t ended) {
  // A timestamp is taken while its kernel runs, so the offset lies between `low` and `high`.
  std::optional<std::int64_t> low, high;
  const auto narrow = [&](const NodeRun& run, std::int64_t timestamp) {
    low = std::max(low.value_or(timestamp - run.ended), timestamp - run.ended);
    high = std::min(high.value_or(timestamp - run.started), timestamp - run.started);
  };
  for (const NodeRun& run : runs) {
    if (run.node == NodeRun::kBegin) narrow(run, started);
    if (run.node == NodeRun::kEnd) narrow(run, ended);
  }
  if (!low) return 0;
  return *low <= *high ? std::clamp<std::int64_t>(0, *low, *high) : *low + (*high - *low) / 2;
}

}  // namespace reprise::detail

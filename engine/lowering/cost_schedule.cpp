#include "lowering/cost_schedule.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

namespace reprise::detail {

namespace {

// A schedule that is shorter by less than this does not justify twice the lanes.
constexpr std::uint64_t kMinGainPercent = 3;
constexpr std::uint32_t kMinLanes = 4;
// Number of equally ranked nodes considered together for their parents' lanes.
constexpr std::size_t kBatch = 16;

// Children by node, built from the parent lists of a dependency graph.
class Children {
 public:
  explicit Children(const DependencyGraph& dependencies)
      : first_(dependencies.node_count() + 1, 0), node_(dependencies.edges.size()) {
    for (const Edge& edge : dependencies.edges) ++first_[edge.from + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const Edge& edge : dependencies.edges) node_[next[edge.from]++] = edge.to;
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {node_.data() + first_[node], node_.data() + first_[node + 1]};
  }

 private:
  std::vector<std::uint32_t> first_, node_;
};

// Simulates time: whenever a lane is free and nodes are ready, the node with the highest upward
// rank starts.
class CostScheduler {
 public:
  CostScheduler(const DependencyGraph& dependencies, std::uint32_t max_lanes,
                std::span<const std::uint32_t> costs)
      : dependencies_(dependencies),
        costs_(costs),
        children_(dependencies),
        ranks_(upward_ranks(dependencies, costs)) {
    const std::uint32_t nodes = dependencies.node_count();
    lanes_ = std::clamp(max_lanes, 1u, std::max(1u, nodes));
    LaneAssignment& result = result_.assignment;
    result.order.reserve(nodes);
    result.lane.assign(nodes, kNone);
    result.position.resize(nodes);
    result.before.assign(nodes, kNone);
    open_parents_.resize(nodes);
    finish_.resize(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      open_parents_[node] = static_cast<std::uint32_t>(dependencies.edges_into(node).size());
      if (open_parents_[node] == 0) ready_.push(key(node));
    }
  }

  CostSchedule run() {
    while (!ready_.empty() || !running_.empty() || !waiting_.empty()) {
      while (now_ >= next_issue_ && !ready_.empty() && has_free_lane()) start_batch();
      advance();
    }
    result_.assignment.lanes = static_cast<std::uint32_t>(tail_.size());
    return std::move(result_);
  }

 private:
  // Highest rank first, then recorded order.
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  [[nodiscard]] Key key(std::uint32_t node) const { return {ranks_[node], ~node}; }
  [[nodiscard]] bool has_free_lane() const { return free_lanes_ != 0 || tail_.size() < lanes_; }

  // Starts ready nodes of the highest rank. Nodes that can continue in a parent's lane go first, so
  // that no other node takes that lane.
  void start_batch() {
    batch_.clear();
    const std::uint64_t rank = ready_.top().first;
    for (; !ready_.empty() && ready_.top().first == rank && batch_.size() < kBatch; ready_.pop())
      batch_.push_back(~ready_.top().second);
    std::size_t others = 0;
    for (const std::uint32_t node : batch_) {
      const std::uint32_t lane = now_ >= next_issue_ ? parent_lane(node) : kNone;
      if (lane != kNone) {
        start(node, lane);
      } else {
        batch_[others++] = node;
      }
    }
    for (std::size_t i = 0; i < others; ++i) {
      if (now_ >= next_issue_ && has_free_lane()) {
        start(batch_[i], other_lane());
      } else {
        ready_.push(key(batch_[i]));
      }
    }
  }

  // The free lane whose last node is a parent; among several, the most recently freed one. kNone if
  // there is none.
  [[nodiscard]] std::uint32_t parent_lane(std::uint32_t node) const {
    std::uint32_t best = kNone;
    for (const Edge& edge : dependencies_.edges_into(node)) {
      const std::uint32_t lane = result_.assignment.lane[edge.from];
      if (tail_[lane] != edge.from || !is_free_[lane]) continue;
      if (best == kNone || finish_[edge.from] > finish_[tail_[best]]) best = lane;
    }
    return best;
  }

  // A new lane below the limit; otherwise the lane that has been free for the longest time.
  [[nodiscard]] std::uint32_t other_lane() {
    if (tail_.size() < lanes_) {
      tail_.push_back(kNone);
      is_free_.push_back(1);
      ++free_lanes_;
      return static_cast<std::uint32_t>(tail_.size()) - 1;
    }
    for (;; free_.pop_front()) {
      const auto [lane, last] = free_.front();
      if (is_free_[lane] != 0 && tail_[lane] == last) return lane;
    }
  }

  void start(std::uint32_t node, std::uint32_t lane) {
    LaneAssignment& result = result_.assignment;
    result.order.push_back(node);
    result.lane[node] = lane;
    result.before[node] = tail_[lane];
    result.position[node] = tail_[lane] == kNone ? 0 : result.position[tail_[lane]] + 1;
    tail_[lane] = node;
    is_free_[lane] = 0;
    --free_lanes_;
    next_issue_ = now_ + kNodeIssueNs;
    finish_[node] = now_ + costs_[node] + kLaneLatencyNs;
    running_.push({finish_[node], node});
  }

  // Advances to the next time at which a node can start.
  void advance() {
    std::uint64_t next = ~std::uint64_t{0};
    if (!running_.empty()) next = std::min(next, running_.top().first);
    if (!waiting_.empty()) next = std::min(next, waiting_.top().first);
    if (!ready_.empty() && has_free_lane()) next = std::min(next, next_issue_);
    now_ = std::max(now_, next);
    for (; !running_.empty() && running_.top().first <= now_; running_.pop())
      finish(running_.top().second);
    for (; !waiting_.empty() && waiting_.top().first <= now_; waiting_.pop())
      ready_.push(key(waiting_.top().second));
  }

  void finish(std::uint32_t node) {
    const std::uint32_t lane = result_.assignment.lane[node];
    free_.push_back({lane, node});
    is_free_[lane] = 1;
    ++free_lanes_;
    result_.makespan = std::max(result_.makespan, finish_[node]);
    for (const std::uint32_t child : children_.of(node)) {
      if (--open_parents_[child] != 0) continue;
      const bool is_alone = dependencies_.edges_into(child).size() == 1;
      waiting_.push({finish_[node] + (is_alone ? 0 : kNodeLatencyNs - kLaneLatencyNs), child});
    }
  }

  const DependencyGraph& dependencies_;
  const std::span<const std::uint32_t> costs_;
  const Children children_;
  const std::vector<std::uint64_t> ranks_;
  std::uint32_t lanes_ = 1;
  std::uint64_t now_ = 0, next_issue_ = 0;
  CostSchedule result_;
  std::vector<std::uint32_t> open_parents_;  // by node: unfinished parents
  std::vector<std::uint32_t> tail_;          // by lane in use
  std::vector<std::uint8_t> is_free_;        // by lane in use
  std::uint32_t free_lanes_ = 0;             // among the lanes in use
  // Lanes in the order of becoming free, each with its last node at that time. An entry is outdated
  // if the lane is busy or has another last node.
  std::deque<std::pair<std::uint32_t, std::uint32_t>> free_;
  std::vector<std::uint64_t> finish_;  // by node
  std::vector<std::uint32_t> batch_;   // scratch
  std::priority_queue<Key> ready_;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> running_;  // by finish time
  std::priority_queue<Key, std::vector<Key>, std::greater<>> waiting_;  // by ready time
};

}  // namespace

std::vector<std::uint64_t> upward_ranks(const DependencyGraph& dependencies,
                                        std::span<const std::uint32_t> costs) {
  std::vector<std::uint64_t> rank(dependencies.node_count(), 0);
  for (std::uint32_t node = dependencies.node_count(); node-- > 0;) {
    rank[node] += costs[node] + kNodeLatencyNs;
    for (const Edge& edge : dependencies.edges_into(node))
      rank[edge.from] = std::max(rank[edge.from], rank[node]);
  }
  return rank;
}

CostSchedule schedule_by_cost(const DependencyGraph& dependencies, std::uint32_t max_lanes,
                              std::span<const std::uint32_t> costs) {
  return CostScheduler(dependencies, max_lanes, costs).run();
}

LaneAssignment assign_lanes_by_cost(const DependencyGraph& dependencies, std::uint32_t max_lanes,
                                    std::span<const std::uint32_t> costs) {
  return schedule_by_cost(dependencies, max_lanes, costs).assignment;
}

std::uint32_t lanes_for_costs(const DependencyGraph& dependencies, std::uint32_t max_lanes,
                              std::span<const std::uint32_t> costs) {
  // Double the costs to leave slack for effects outside the model.
  std::vector<std::uint32_t> doubled(costs.begin(), costs.end());
  for (std::uint32_t& cost : doubled)
    cost = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(2 * std::uint64_t{cost} + kLaneLatencyNs, ~0u));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> tried;  // lanes, makespan
  std::uint64_t best = ~std::uint64_t{0};
  for (std::uint32_t lanes = kMinLanes; lanes <= max_lanes; lanes *= 2) {
    tried.push_back({lanes, schedule_by_cost(dependencies, lanes, doubled).makespan});
    best = std::min(best, tried.back().second);
  }
  for (const auto& [lanes, makespan] : tried) {
    if (makespan <= best * (100 + kMinGainPercent) / 100) return lanes;
  }
  return max_lanes;
}

}  // namespace reprise::detail

#include "lowering/list_schedule.hpp"

#include <algorithm>
#include <bit>

namespace reprise::detail {

namespace {

// Finds the lane that becomes free first, lowest number on ties: a tournament tree over the times
// at which lanes become free.
class FreeLanes {
 public:
  explicit FreeLanes(std::uint32_t lanes)
      : leaves_(std::bit_ceil(lanes)), keys_(2 * leaves_, ~std::uint64_t{0}) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) keys_[leaves_ + lane] = lane;
    for (std::size_t i = leaves_ - 1; i > 0; --i)
      keys_[i] = std::min(keys_[2 * i], keys_[2 * i + 1]);
  }
  [[nodiscard]] std::uint32_t first() const {
    return static_cast<std::uint32_t>(keys_[1] & kLaneMask);
  }
  [[nodiscard]] std::uint64_t time(std::uint32_t lane) const {
    return keys_[leaves_ + lane] >> kLaneBits;
  }
  void set(std::uint32_t lane, std::uint64_t time) {
    std::size_t i = leaves_ + lane;
    keys_[i] = (time << kLaneBits) | lane;
    for (i /= 2; i > 0; i /= 2) {
      const std::uint64_t winner = std::min(keys_[2 * i], keys_[2 * i + 1]);
      if (keys_[i] == winner) break;
      keys_[i] = winner;
    }
  }

 private:
  static constexpr unsigned kLaneBits = 16;
  static constexpr std::uint64_t kLaneMask = (1u << kLaneBits) - 1;
  std::size_t leaves_;
  std::vector<std::uint64_t> keys_;
};

// Longest path to a leaf, in edges.
std::vector<std::uint32_t> heights(const DependencyGraph& dependencies) {
  std::vector<std::uint32_t> height(dependencies.node_count(), 0);
  for (std::uint32_t node = dependencies.node_count(); node-- > 0;) {
    for (const Edge& edge : dependencies.edges_into(node))
      height[edge.from] = std::max(height[edge.from], height[node] + 1);
  }
  return height;
}

class ListScheduler {
 public:
  ListScheduler(const DependencyGraph& dependencies, std::uint32_t max_lanes)
      : dependencies_(dependencies),
        free_(std::clamp(max_lanes, 1u, std::max(1u, dependencies.node_count()))) {
    const std::uint32_t nodes = dependencies.node_count();
    result_.order.reserve(nodes);
    result_.lane.resize(nodes);
    result_.position.resize(nodes);
    result_.before.assign(nodes, kNone);
    finish_.resize(nodes);
  }

  LaneAssignment run() {
    const std::uint32_t nodes = dependencies_.node_count();
    const std::vector<std::uint32_t> height = heights(dependencies_);
    std::uint32_t max_height = 0;
    for (const std::uint32_t h : height) max_height = std::max(max_height, h);
    // Parents are higher than their children, so descending height is a topological order.
    std::vector<std::uint32_t> first(max_height + 2, 0);
    for (const std::uint32_t h : height) ++first[max_height - h + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<std::uint32_t> by_height(nodes);
    std::vector<std::uint32_t> next = first;
    for (std::uint32_t node = 0; node < nodes; ++node)
      by_height[next[max_height - height[node]]++] = node;

    std::vector<std::uint32_t> others;
    for (std::size_t bucket = 0; bucket + 1 < first.size(); ++bucket) {
      // Nodes that continue a parent's lane go first, so that no other node takes that lane.
      others.clear();
      for (std::uint32_t i = first[bucket]; i < first[bucket + 1]; ++i) {
        if (!continue_parent_lane(by_height[i])) others.push_back(by_height[i]);
      }
      for (const std::uint32_t node : others) place(node, choose_lane(node));
    }
    result_.lanes = static_cast<std::uint32_t>(tail_.size());
    return std::move(result_);
  }

 private:
  bool continue_parent_lane(std::uint32_t node) {
    std::uint32_t best = kNone;
    for (const Edge& edge : dependencies_.edges_into(node)) {
      if (tail_[result_.lane[edge.from]] != edge.from) continue;
      if (best == kNone || finish_[edge.from] > finish_[best]) best = edge.from;
    }
    if (best == kNone) return false;
    place(node, result_.lane[best]);
    return true;
  }

  std::uint32_t choose_lane(std::uint32_t node) const {
    const std::uint32_t lane = free_.first();
    for (const Edge& edge : dependencies_.edges_into(node)) {
      if (free_.time(result_.lane[edge.from]) == free_.time(lane)) return result_.lane[edge.from];
    }
    return lane;
  }

  void place(std::uint32_t node, std::uint32_t lane) {
    std::uint64_t start = free_.time(lane);
    for (const Edge& edge : dependencies_.edges_into(node))
      start = std::max(start, finish_[edge.from]);
    if (lane == tail_.size()) {
      tail_.push_back(kNone);
    }
    const std::uint32_t before = tail_[lane];
    result_.order.push_back(node);
    result_.lane[node] = lane;
    result_.before[node] = before;
    result_.position[node] = before == kNone ? 0 : result_.position[before] + 1;
    tail_[lane] = node;
    finish_[node] = start + 1;
    free_.set(lane, start + 1);
  }

  const DependencyGraph& dependencies_;
  FreeLanes free_;
  LaneAssignment result_;
  std::vector<std::uint64_t> finish_;
  std::vector<std::uint32_t> tail_;  // by lane in use
};

}  // namespace

LaneAssignment assign_lanes(const DependencyGraph& dependencies, std::uint32_t max_lanes) {
  return ListScheduler(dependencies, max_lanes).run();
}

std::uint32_t width_lower_bound(const DependencyGraph& dependencies) {
  const std::uint32_t nodes = dependencies.node_count();
  std::vector<std::uint32_t> depth(nodes, 0), children(nodes, 0), nodes_at_depth(nodes, 0);
  std::uint32_t roots = 0, leaves = 0, width = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const auto parents = dependencies.edges_into(node);
    for (const Edge& edge : parents) {
      depth[node] = std::max(depth[node], depth[edge.from] + 1);
      width = std::max(width, ++children[edge.from]);
    }
    roots += parents.empty() ? 1 : 0;
    width = std::max(
        {width, static_cast<std::uint32_t>(parents.size()), ++nodes_at_depth[depth[node]]});
  }
  for (const std::uint32_t count : children) leaves += count == 0 ? 1 : 0;
  return std::max({width, roots, leaves});
}

std::vector<std::uint32_t> preferred_parents(const DependencyGraph& dependencies) {
  const std::uint32_t nodes = dependencies.node_count();
  std::vector<std::uint32_t> parent(nodes, kNone), finish(nodes, 0);
  std::vector<std::uint8_t> taken(nodes, 0);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::uint32_t best = kNone, start = 0;
    for (const Edge& edge : dependencies.edges_into(node)) {
      start = std::max(start, finish[edge.from]);
      if (taken[edge.from] == 0 && (best == kNone || finish[edge.from] > finish[best]))
        best = edge.from;
    }
    finish[node] = start + 1;
    if (best != kNone) taken[best] = 1;
    parent[node] = best;
  }
  return parent;
}

}  // namespace reprise::detail

#include "lowering/memory_aware_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace reprise::detail {

namespace {

// The transients that each node uses, and the remaining uses of each transient. A node counts a
// transient once.
class LiveBytes {
 public:
  LiveBytes(const Recording& recording, const DependencyGraph& dependencies)
      : recording_(recording), first_(dependencies.node_count() + std::size_t{1}, 0) {
    std::vector<std::uint32_t> seen(recording.buffers.size(), kNone);
    for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
      first_[node] = static_cast<std::uint32_t>(used_.size());
      if (dependencies.is_join[node] != 0) continue;
      const Command& command = recording.commands[dependencies.node_command[node]];
      for (std::uint32_t i = 0; i < command.access_count; ++i) {
        const std::uint32_t buffer = recording.accesses[command.first_access + i].buffer;
        if (recording.buffers[buffer]->kind != BufferKind::Transient || seen[buffer] == node)
          continue;
        seen[buffer] = node;
        used_.push_back(buffer);
      }
    }
    first_.back() = static_cast<std::uint32_t>(used_.size());
    remaining_uses_.assign(recording.buffers.size(), 0);
    is_live_.assign(recording.buffers.size(), 0);
    for (const std::uint32_t buffer : used_) ++remaining_uses_[buffer];
  }

  // Change of the live bytes by running the node.
  [[nodiscard]] std::int64_t change(std::uint32_t node) const {
    std::int64_t bytes = 0;
    for (std::uint32_t i = first_[node]; i < first_[node + 1]; ++i) {
      const auto size = static_cast<std::int64_t>(recording_.buffers[used_[i]]->bytes);
      bytes += (is_live_[used_[i]] == 0 ? size : 0) - (remaining_uses_[used_[i]] == 1 ? size : 0);
    }
    return bytes;
  }

  // Runs the node. Calls visit(buffer) for transients that become live or have one use left: the
  // change of other nodes may differ.
  template <class Visit>
  void run(std::uint32_t node, Visit visit) {
    for (std::uint32_t i = first_[node]; i < first_[node + 1]; ++i) {
      const std::uint32_t buffer = used_[i];
      const bool is_new = is_live_[buffer] == 0;
      is_live_[buffer] = 1;
      if (--remaining_uses_[buffer] == 1 || is_new) visit(buffer);
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> used_by(std::uint32_t node) const {
    return {used_.data() + first_[node], used_.data() + first_[node + 1]};
  }

 private:
  const Recording& recording_;
  std::vector<std::uint32_t> first_, used_;    // buffers, grouped by node
  std::vector<std::uint32_t> remaining_uses_;  // by buffer: nodes that use it and have not run
  std::vector<std::uint8_t> is_live_;          // by buffer
};

class MinBytesOrder {
 public:
  MinBytesOrder(const Recording& recording, const DependencyGraph& dependencies)
      : live_(recording, dependencies),
        users_(recording.buffers.size()),
        children_(dependencies.node_count()),
        parents_(dependencies.node_count(), 0),
        key_(dependencies.node_count(), 0),
        is_ready_(dependencies.node_count(), 0) {
    for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
      for (const Edge& edge : dependencies.edges_into(node)) children_[edge.from].push_back(node);
      parents_[node] = static_cast<std::uint32_t>(dependencies.edges_into(node).size());
      for (const std::uint32_t buffer : live_.used_by(node)) users_[buffer].push_back(node);
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order;
    order.reserve(parents_.size());
    for (std::uint32_t node = 0; node < parents_.size(); ++node) {
      if (parents_[node] == 0) make_ready(node);
    }
    while (!ready_.empty()) {
      const std::uint32_t node = ready_.begin()->second;
      ready_.erase(ready_.begin());
      is_ready_[node] = 0;
      order.push_back(node);
      live_.run(node, [this](std::uint32_t buffer) {
        if (users_[buffer].size() > kMaxRefreshedUsers) return;
        for (const std::uint32_t user : users_[buffer]) refresh(user);
      });
      for (const std::uint32_t child : children_[node]) {
        if (--parents_[child] == 0) make_ready(child);
      }
    }
    return order;
  }

 private:
  // Users of a buffer with more users are not refreshed; their keys are computed on becoming ready.
  static constexpr std::size_t kMaxRefreshedUsers = 256;

  void make_ready(std::uint32_t node) {
    is_ready_[node] = 1;
    key_[node] = live_.change(node);
    ready_.emplace(key_[node], node);
  }
  void refresh(std::uint32_t node) {
    if (is_ready_[node] == 0) return;
    ready_.erase({key_[node], node});
    make_ready(node);
  }

  LiveBytes live_;
  std::vector<std::vector<std::uint32_t>> users_;     // nodes, by buffer
  std::vector<std::vector<std::uint32_t>> children_;  // by node
  std::vector<std::uint32_t> parents_;                // by node: parents that have not run
  std::vector<std::int64_t> key_;
  std::vector<std::uint8_t> is_ready_;
  std::set<std::pair<std::int64_t, std::uint32_t>> ready_;
};

}  // namespace

std::vector<std::uint32_t> memory_aware_order(const Recording& recording,
                                              const DependencyGraph& dependencies,
                                              MemoryAwareOrder order) {
  switch (order) {
    case MemoryAwareOrder::Recorded: break;
    case MemoryAwareOrder::MinBytes: return MinBytesOrder(recording, dependencies).run();
  }
  std::vector<std::uint32_t> nodes(dependencies.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

LaneAssignment assign_lanes_in_order(const DependencyGraph& dependencies,
                                     const std::vector<std::uint32_t>& order,
                                     std::uint32_t max_lanes) {
  LaneAssignment result;
  const std::uint32_t nodes = dependencies.node_count();
  result.order = order;
  result.lane.resize(nodes);
  result.position.resize(nodes);
  result.before.assign(nodes, kNone);
  std::vector<std::uint64_t> finish(nodes, 0), free;  // by node; by lane in use
  std::vector<std::uint32_t> tail;                    // by lane in use
  std::set<std::pair<std::uint64_t, std::uint32_t>> by_time;
  for (const std::uint32_t node : order) {
    std::uint64_t start = 0;
    std::uint32_t parent = kNone;
    for (const Edge& edge : dependencies.edges_into(node)) {
      start = std::max(start, finish[edge.from]);
      if (tail[result.lane[edge.from]] == edge.from &&
          (parent == kNone || finish[edge.from] > finish[parent]))
        parent = edge.from;
    }
    std::uint32_t lane = parent == kNone ? kNone : result.lane[parent];
    if (lane == kNone &&
        (by_time.empty() || (by_time.begin()->first > start && tail.size() < max_lanes))) {
      lane = static_cast<std::uint32_t>(tail.size());
      tail.push_back(kNone);
      free.push_back(0);
    } else if (lane == kNone) {
      lane = by_time.begin()->second;
    }
    by_time.erase({free[lane], lane});
    result.lane[node] = lane;
    result.before[node] = tail[lane];
    result.position[node] = tail[lane] == kNone ? 0 : result.position[tail[lane]] + 1;
    tail[lane] = node;
    finish[node] = free[lane] = std::max(start, free[lane]) + 1;
    by_time.emplace(free[lane], lane);
  }
  result.lanes = static_cast<std::uint32_t>(tail.size());
  return result;
}

}  // namespace reprise::detail

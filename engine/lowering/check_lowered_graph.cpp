#include <string>
#include <utility>

#include <reprise/error.hpp>

#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

namespace {

[[noreturn]] void fail(const std::string& text) {
  ErrorDetails details;
  details.code = ErrorCode::Internal;
  details.stage = Stage::Lowering;
  throw Error(std::move(details), text);
}

// Partitions the lowered graph into chains of edges. One position per chain answers most ordering
// queries.
class OrderCheck {
 public:
  OrderCheck(const DependencyGraph& dependencies, const LoweredGraph& lowered)
      : dependencies_(dependencies),
        lowered_(lowered),
        chain_(lowered.nodes.size()),
        position_(lowered.nodes.size()) {
    partition_into_chains();
    latest_.resize(chain_tail_.size());
  }

  void check() {
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      const std::uint32_t dependency_node = lowered_.nodes[node].dependency_node;
      if (dependency_node == kNone) continue;
      for (const LoweredEdge& edge : lowered_.edges_into(node)) update_latest(node, edge.from);
      for (const Edge& edge : dependencies_.edges_into(dependency_node)) {
        const std::uint32_t from = lowered_.node_of[edge.from];
        if (chain_[from] == chain_[node] && position_[from] < position_[node]) continue;
        const LatestPosition& latest = latest_[chain_[from]];
        if (latest.node == node && latest.position >= position_[from]) continue;
        if (!search(from, node)) {
          fail("the lowered graph does not order dependency node " + std::to_string(edge.from) +
               " before " + std::to_string(edge.to));
        }
      }
    }
  }

 private:
  // The latest position in a chain that the edges of node `node` order before it.
  struct LatestPosition {
    std::uint32_t node = kNone, position = 0;
  };

  // A node extends the chain of its first parent if that parent is the chain's tail.
  void partition_into_chains() {
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      const auto edges = lowered_.edges_into(node);
      for (const LoweredEdge& edge : edges) {
        if (edge.from >= node)
          fail("lowered node " + std::to_string(node) +
               " is created before one of its predecessors");
      }
      if (!edges.empty() && chain_tail_[chain_[edges.front().from]] == edges.front().from) {
        chain_[node] = chain_[edges.front().from];
        position_[node] = position_[edges.front().from] + 1;
        chain_tail_[chain_[node]] = node;
      } else {
        chain_[node] = static_cast<std::uint32_t>(chain_tail_.size());
        position_[node] = 0;
        chain_tail_.push_back(node);
      }
    }
  }

  void update_latest(std::uint32_t node, std::uint32_t parent) {
    LatestPosition& latest = latest_[chain_[parent]];
    if (latest.node != node || latest.position < position_[parent])
      latest = {node, position_[parent]};
  }

  // Breadth-first search from `node` against the edges. Exact; needed only if the latest positions
  // do not decide.
  bool search(std::uint32_t from, std::uint32_t node) {
    if (seen_.empty()) seen_.assign(lowered_.nodes.size(), 0);
    ++search_;
    queue_.assign(1, node);
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      for (const LoweredEdge& edge : lowered_.edges_into(queue_[next])) {
        if (chain_[edge.from] == chain_[from] && position_[edge.from] >= position_[from])
          return true;
        if (edge.from < from || seen_[edge.from] == search_) continue;
        seen_[edge.from] = search_;
        queue_.push_back(edge.from);
      }
    }
    return false;
  }

  const DependencyGraph& dependencies_;
  const LoweredGraph& lowered_;
  std::vector<std::uint32_t> chain_, position_;  // by lowered node
  std::vector<std::uint32_t> chain_tail_;        // by chain
  std::vector<LatestPosition> latest_;           // by chain
  std::vector<std::uint32_t> seen_, queue_;
  std::uint32_t search_ = 0;
};

}  // namespace

void check_lowered_graph(const DependencyGraph& dependencies, const LoweredGraph& lowered) {
  if (lowered.node_of.size() != dependencies.node_count())
    fail("the lowered graph belongs to another dependency graph");
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t index = lowered.node_of[node];
    if (index >= lowered.nodes.size() || lowered.nodes[index].dependency_node != node) {
      fail("dependency node " + std::to_string(node) + " is not in the lowered graph");
    }
  }
  OrderCheck(dependencies, lowered).check();
  check_segments(dependencies, lowered);
}

}  // namespace reprise::detail

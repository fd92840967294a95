#include <string>
#include <utility>

#include <reprise/error.hpp>

#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

namespace {

[[noreturn]] void fail(const std::string& text) {
  ErrorDetails details;
  details.code = ErrorCode::Internal;
  details.stage = Stage::Lanes;
  throw Error(std::move(details), text);
}

// Cuts the lowered graph into runs, each a chain of edges, so that one position a run answers most
// questions about order.
class OrderCheck {
 public:
  OrderCheck(const DependencyGraph& dependencies, const LoweredGraph& lowered)
      : dependencies_(dependencies),
        lowered_(lowered),
        run_(lowered.nodes.size()),
        position_(lowered.nodes.size()) {
    cut_into_runs();
    latest_.resize(run_tail_.size());
  }

  void check() {
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      const std::uint32_t dependency_node = lowered_.nodes[node].dependency_node;
      if (dependency_node == kNone) continue;
      for (const LoweredEdge& edge : lowered_.edges_into(node)) note_latest(node, edge.from);
      for (const Edge& edge : dependencies_.edges_into(dependency_node)) {
        const std::uint32_t from = lowered_.node_of[edge.from];
        if (run_[from] == run_[node] && position_[from] < position_[node]) continue;
        const AsyncValue& latest = latest_[run_[from]];
        if (latest.of == node && latest.position >= position_[from]) continue;
        if (!search(from, node)) {
          fail("the lowered graph does not order schedule node " + std::to_string(edge.from) +
               " before " + std::to_string(edge.to));
        }
      }
    }
  }

 private:
  struct AsyncValue {
    std::uint32_t of = kNone, position = 0;
  };

  // A node goes on in the run of its first parent where that parent is the run's last.
  void cut_into_runs() {
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      const auto edges = lowered_.edges_into(node);
      for (const LoweredEdge& edge : edges) {
        if (edge.from >= node)
          fail("lowered node " + std::to_string(node) + " is made before one that it waits for");
      }
      if (!edges.empty() && run_tail_[run_[edges.front().from]] == edges.front().from) {
        run_[node] = run_[edges.front().from];
        position_[node] = position_[edges.front().from] + 1;
        run_tail_[run_[node]] = node;
      } else {
        run_[node] = static_cast<std::uint32_t>(run_tail_.size());
        position_[node] = 0;
        run_tail_.push_back(node);
      }
    }
  }

  void note_latest(std::uint32_t node, std::uint32_t parent) {
    AsyncValue& latest = latest_[run_[parent]];
    if (latest.of != node || latest.position < position_[parent])
      latest = {node, position_[parent]};
  }

  // Breadth first from `node` against the edges: the whole truth, needed only where the latest
  // positions do not tell.
  bool search(std::uint32_t from, std::uint32_t node) {
    if (seen_.empty()) seen_.assign(lowered_.nodes.size(), 0);
    ++search_;
    queue_.assign(1, node);
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      for (const LoweredEdge& edge : lowered_.edges_into(queue_[next])) {
        if (run_[edge.from] == run_[from] && position_[edge.from] >= position_[from]) return true;
        if (edge.from < from || seen_[edge.from] == search_) continue;
        seen_[edge.from] = search_;
        queue_.push_back(edge.from);
      }
    }
    return false;
  }

  const DependencyGraph& dependencies_;
  const LoweredGraph& lowered_;
  std::vector<std::uint32_t> run_, position_;  // by lowered node
  std::vector<std::uint32_t> run_tail_;        // by run
  std::vector<AsyncValue> latest_;             // by run
  std::vector<std::uint32_t> seen_, queue_;
  std::uint32_t search_ = 0;
};

}  // namespace

void check_lowered_graph(const DependencyGraph& dependencies, const LoweredGraph& lowered) {
  if (lowered.node_of.size() != dependencies.node_count())
    fail("the lowered graph is of another schedule");
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t at = lowered.node_of[node];
    if (at >= lowered.nodes.size() || lowered.nodes[at].dependency_node != node) {
      fail("schedule node " + std::to_string(node) + " is not in the lowered graph");
    }
  }
  OrderCheck(dependencies, lowered).check();
}

}  // namespace reprise::detail

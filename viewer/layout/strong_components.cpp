#include "layout/strong_components.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kUnseen = 0xffffffffu;

// Tarjan's algorithm with an explicit stack.
class Search {
 public:
  Search(std::uint32_t nodes, const std::vector<LayoutEdge>& edges)
      : edges_(edges),
        first_(nodes + 1, 0),
        met_(nodes, kUnseen),
        low_(nodes, 0),
        set_(nodes, kUnseen),
        next_(nodes, 0) {
    for (const LayoutEdge edge : edges) ++first_[edge.from + 1];
    for (std::uint32_t n = 0; n < nodes; ++n) {
      first_[n + 1] += first_[n];
      next_[n] = first_[n];
    }
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t n = 0; n < met_.size(); ++n) {
      if (met_[n] == kUnseen) visit(n);
    }
    return set_;
  }

 private:
  void enter(std::uint32_t node) {
    met_[node] = low_[node] = count_++;
    way_.push_back(node);
    open_.push_back(node);
  }
  void visit(std::uint32_t root) {
    enter(root);
    while (!way_.empty()) {
      const std::uint32_t node = way_.back();
      if (next_[node] == first_[node + 1]) {
        leave(node);
        continue;
      }
      const std::uint32_t to = edges_[next_[node]++].to;
      if (met_[to] == kUnseen) {
        enter(to);
      } else if (set_[to] == kUnseen) {
        low_[node] = std::min(low_[node], met_[to]);
      }
    }
  }
  void leave(std::uint32_t node) {
    way_.pop_back();
    if (!way_.empty()) low_[way_.back()] = std::min(low_[way_.back()], low_[node]);
    if (low_[node] != met_[node]) return;
    for (std::uint32_t member = kUnseen; member != node;) {
      member = open_.back();
      open_.pop_back();
      set_[member] = sets_;
    }
    ++sets_;
  }

  const std::vector<LayoutEdge>& edges_;
  std::vector<std::uint32_t> first_, met_, low_, set_, next_, way_, open_;
  std::uint32_t count_ = 0, sets_ = 0;
};

}  // namespace

std::vector<std::uint32_t> strong_components(std::uint32_t nodes,
                                             const std::vector<LayoutEdge>& edges) {
  return Search(nodes, edges).run();
}

}  // namespace reprise::viewer

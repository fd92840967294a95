#include "base/antichain.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace reprise::detail {

namespace {

constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();

// The maximum flow from elements to later ones, by Dinic's algorithm. Each element emits and
// absorbs at most its own weight, and forwards any other inflow to later elements.
class AntichainFlow {
 public:
  AntichainFlow(std::span<const std::uint64_t> weights, const OrderedPairs& pairs)
      : nodes_(static_cast<std::uint32_t>(2 * weights.size() + 2)),
        first_(nodes_, kUnset),
        level_(nodes_),
        next_(nodes_) {
    for (std::uint32_t element = 0; element < weights.size(); ++element) {
      add_arc(source(), out_node(element), weights[element]);
      add_arc(in_node(element), sink(), weights[element]);
      add_arc(in_node(element), out_node(element), kUnlimited);
    }
    for (const auto& [earlier, later] : pairs)
      add_arc(out_node(earlier), in_node(later), kUnlimited);
  }

  void run() {
    while (find_levels()) {
      next_ = first_;
      while (push() != 0) {
      }
    }
  }

  // Valid after run(): the minimum cut separates the two nodes of the element.
  [[nodiscard]] bool is_in_set(std::uint32_t element) const {
    return level_[out_node(element)] != kUnset && level_[in_node(element)] == kUnset;
  }

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0} >> 2;
  struct Arc {
    std::uint32_t to = 0, next = kUnset;  // next: arc of the same node
    std::uint64_t residual = 0;
  };
  std::uint32_t source() const { return nodes_ - 2; }
  std::uint32_t sink() const { return nodes_ - 1; }
  static std::uint32_t out_node(std::uint32_t element) { return 2 * element; }
  static std::uint32_t in_node(std::uint32_t element) { return 2 * element + 1; }

  void add_arc(std::uint32_t from, std::uint32_t to, std::uint64_t capacity) {
    arcs_.push_back({to, first_[from], capacity});
    first_[from] = static_cast<std::uint32_t>(arcs_.size() - 1);
    arcs_.push_back({from, first_[to], 0});
    first_[to] = static_cast<std::uint32_t>(arcs_.size() - 1);
  }

  bool find_levels() {
    std::fill(level_.begin(), level_.end(), kUnset);
    queue_.assign(1, source());
    level_[source()] = 0;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      for (std::uint32_t i = first_[queue_[at]]; i != kUnset; i = arcs_[i].next) {
        if (arcs_[i].residual == 0 || level_[arcs_[i].to] != kUnset) continue;
        level_[arcs_[i].to] = level_[queue_[at]] + 1;
        queue_.push_back(arcs_[i].to);
      }
    }
    return level_[sink()] != kUnset;
  }

  // Fills one more path from the source to the sink; 0: there is none. Depth-first without
  // recursion: a path may pass all elements.
  std::uint64_t push() {
    path_.clear();
    for (std::uint32_t node = source(); node != sink();) {
      std::uint32_t& i = next_[node];
      while (i != kUnset && (arcs_[i].residual == 0 || level_[arcs_[i].to] != level_[node] + 1))
        i = arcs_[i].next;
      if (i != kUnset) {
        path_.push_back(i);
        node = arcs_[i].to;
        continue;
      }
      if (path_.empty()) return 0;
      const std::uint32_t dead_end = path_.back();
      path_.pop_back();
      node = arcs_[dead_end ^ 1].to;
      next_[node] = arcs_[dead_end].next;
    }
    std::uint64_t pushed = ~std::uint64_t{0};
    for (const std::uint32_t arc : path_) pushed = std::min(pushed, arcs_[arc].residual);
    for (const std::uint32_t arc : path_) {
      arcs_[arc].residual -= pushed;
      arcs_[arc ^ 1].residual += pushed;
    }
    return pushed;
  }

  std::uint32_t nodes_;
  std::vector<Arc> arcs_;  // each arc is followed by its reverse
  std::vector<std::uint32_t> first_, level_, next_, queue_, path_;  // path_: arcs
};

}  // namespace

std::vector<std::uint32_t> max_weight_antichain(std::span<const std::uint64_t> weights,
                                                const OrderedPairs& pairs) {
  AntichainFlow flow(weights, pairs);
  flow.run();
  std::vector<std::uint32_t> set;
  for (std::uint32_t element = 0; element < weights.size(); ++element)
    if (flow.is_in_set(element)) set.push_back(element);
  return set;
}

}  // namespace reprise::detail

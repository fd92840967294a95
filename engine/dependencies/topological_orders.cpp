#include "dependencies/topological_orders.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/split_mix.hpp"

namespace reprise::detail {

namespace {

// The successors of each node.
struct Successors {
  Successors(const DependencyGraph& dependencies, std::span<const OrderedPair> extra_pairs)
      : first(dependencies.node_count() + 2, 0), predecessor_count(dependencies.node_count(), 0) {
    const auto visit_all = [&](auto&& visit) {
      for (const Edge& edge : dependencies.edges) visit(edge.from, edge.to);
      for (const OrderedPair& pair : extra_pairs) visit(pair.before, pair.after);
    };
    visit_all([&](std::uint32_t from, std::uint32_t to) {
      ++first[from + 2];
      ++predecessor_count[to];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    nodes.resize(dependencies.edges.size() + extra_pairs.size());
    visit_all([&](std::uint32_t from, std::uint32_t to) { nodes[first[from + 1]++] = to; });
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {nodes.data() + first[node], nodes.data() + first[node + 1]};
  }

  std::vector<std::size_t> first;
  std::vector<std::uint32_t> predecessor_count, nodes;
};

}  // namespace

NodeOrder topological_order(const DependencyGraph& dependencies,
                            std::span<const OrderedPair> extra_pairs, std::uint64_t seed) {
  Successors successors(dependencies, extra_pairs);
  SplitMix64 generator(seed);
  NodeOrder ready, order;
  order.reserve(dependencies.node_count());
  const auto add = [&](std::uint32_t node) {
    ready.push_back(node);
    if (seed == 0) std::push_heap(ready.begin(), ready.end());
  };
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (successors.predecessor_count[node] == 0) add(node);
  }
  while (!ready.empty()) {
    if (seed == 0) {
      std::pop_heap(ready.begin(), ready.end());
    } else {
      std::swap(ready[generator.next() % ready.size()], ready.back());
    }
    const std::uint32_t node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const std::uint32_t successor : successors.of(node)) {
      if (--successors.predecessor_count[successor] == 0) add(successor);
    }
  }
  return order;
}

AdjacentSwapPath::AdjacentSwapPath(NodeOrder end) : end_(std::move(end)) {
  // Nodes move to their final positions one after another. Each passes the lower nodes that are not
  // placed yet; a Fenwick tree counts those.
  const std::size_t count = end_.size();
  std::vector<std::uint32_t> placed_sums(count + 1, 0);
  swaps_before_.assign(1, 0);
  swaps_before_.reserve(count + 1);
  for (const std::uint32_t node : end_) {
    std::uint64_t distance = node;
    for (std::size_t i = node; i > 0; i &= i - 1) distance -= placed_sums[i];
    for (std::size_t i = std::size_t{node} + 1; i <= count; i += i & (~i + 1)) ++placed_sums[i];
    swaps_before_.push_back(swaps_before_.back() + distance);
  }
}

std::uint32_t AdjacentSwapPath::node_moved_by(std::uint64_t swap) const noexcept {
  return static_cast<std::uint32_t>(
      std::upper_bound(swaps_before_.begin(), swaps_before_.end(), swap) - swaps_before_.begin() -
      1);
}

NodeOrder AdjacentSwapPath::order_after(std::uint64_t swaps) const {
  if (swaps >= this->swaps()) return end_;
  const std::uint32_t target = node_moved_by(swaps);
  NodeOrder order(end_.begin(), end_.begin() + target);
  std::vector<std::uint8_t> is_placed(end_.size(), 0);
  for (const std::uint32_t node : order) is_placed[node] = 1;
  std::size_t position = 0;
  for (std::uint32_t node = 0; node < end_.size(); ++node) {
    if (is_placed[node] != 0) continue;
    if (node == end_[target]) position = order.size();
    order.push_back(node);
  }
  const std::size_t steps = swaps - swaps_before_[target];
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(position - steps),
              order.begin() + static_cast<std::ptrdiff_t>(position),
              order.begin() + static_cast<std::ptrdiff_t>(position + 1));
  return order;
}

AdjacentSwapPath::Swap AdjacentSwapPath::swap_at(std::uint64_t swap) const {
  const NodeOrder order = order_after(swap);
  const std::uint32_t moved = end_[node_moved_by(swap)];
  const auto position =
      static_cast<std::uint32_t>(std::find(order.begin(), order.end(), moved) - order.begin());
  return {{order[position - 1], moved}, position - 1};
}

}  // namespace reprise::detail

#include "dependencies/topological_orders.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/split_mix.hpp"

namespace reprise::detail {

namespace {

// Who waits for each node.
struct Followers {
  Followers(const DependencyGraph& dependencies, std::span<const OrderedPair> also)
      : first(dependencies.node_count() + 2, 0), waits_for(dependencies.node_count(), 0) {
    const auto visit_all = [&](auto&& visit) {
      for (const Edge& edge : dependencies.edges) visit(edge.from, edge.to);
      for (const OrderedPair& pair : also) visit(pair.before, pair.after);
    };
    visit_all([&](std::uint32_t from, std::uint32_t to) {
      ++first[from + 2];
      ++waits_for[to];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    nodes.resize(dependencies.edges.size() + also.size());
    visit_all([&](std::uint32_t from, std::uint32_t to) { nodes[first[from + 1]++] = to; });
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {nodes.data() + first[node], nodes.data() + first[node + 1]};
  }

  std::vector<std::size_t> first;
  std::vector<std::uint32_t> waits_for, nodes;
};

}  // namespace

NodeOrder topological_order(const DependencyGraph& dependencies, std::span<const OrderedPair> also,
                            std::uint64_t number) {
  Followers followers(dependencies, also);
  SplitMix64 numbers(number);
  NodeOrder ready, order;
  order.reserve(dependencies.node_count());
  const auto add = [&](std::uint32_t node) {
    ready.push_back(node);
    if (number == 0) std::push_heap(ready.begin(), ready.end());
  };
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (followers.waits_for[node] == 0) add(node);
  }
  while (!ready.empty()) {
    if (number == 0) {
      std::pop_heap(ready.begin(), ready.end());
    } else {
      std::swap(ready[numbers.next() % ready.size()], ready.back());
    }
    const std::uint32_t node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (const std::uint32_t follower : followers.of(node)) {
      if (--followers.waits_for[follower] == 0) add(follower);
    }
  }
  return order;
}

AdjacentSwapPath::AdjacentSwapPath(NodeOrder end) : end_(std::move(end)) {
  // The nodes come to their places one after another; each passes those before it that are not in
  // their places yet. Counted in a tree of sums.
  const std::size_t count = end_.size();
  std::vector<std::uint32_t> placed(count + 1, 0);
  swaps_before_.assign(1, 0);
  swaps_before_.reserve(count + 1);
  for (const std::uint32_t node : end_) {
    std::uint64_t passed = node;
    for (std::size_t i = node; i > 0; i &= i - 1) passed -= placed[i];
    for (std::size_t i = std::size_t{node} + 1; i <= count; i += i & (~i + 1)) ++placed[i];
    swaps_before_.push_back(swaps_before_.back() + passed);
  }
}

std::uint32_t AdjacentSwapPath::node_moved_by(std::uint64_t swap) const noexcept {
  return static_cast<std::uint32_t>(
      std::upper_bound(swaps_before_.begin(), swaps_before_.end(), swap) - swaps_before_.begin() -
      1);
}

NodeOrder AdjacentSwapPath::order_after(std::uint64_t swaps) const {
  if (swaps >= this->swaps()) return end_;
  const std::uint32_t place = node_moved_by(swaps);
  NodeOrder order(end_.begin(), end_.begin() + place);
  std::vector<std::uint8_t> is_placed(end_.size(), 0);
  for (const std::uint32_t node : order) is_placed[node] = 1;
  std::size_t at = 0;
  for (std::uint32_t node = 0; node < end_.size(); ++node) {
    if (is_placed[node] != 0) continue;
    if (node == end_[place]) at = order.size();
    order.push_back(node);
  }
  const std::size_t steps = swaps - swaps_before_[place];
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(at - steps),
              order.begin() + static_cast<std::ptrdiff_t>(at),
              order.begin() + static_cast<std::ptrdiff_t>(at + 1));
  return order;
}

AdjacentSwapPath::Swap AdjacentSwapPath::swap_at(std::uint64_t swap) const {
  const NodeOrder order = order_after(swap);
  const std::uint32_t moved = end_[node_moved_by(swap)];
  const auto at =
      static_cast<std::uint32_t>(std::find(order.begin(), order.end(), moved) - order.begin());
  return {{order[at - 1], moved}, at - 1};
}

}  // namespace reprise::detail

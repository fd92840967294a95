// Orders in which a schedule's nodes may run one after another, and the way from one such order to
// another. Pure functions; know no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

using NodeOrder = std::vector<std::uint32_t>;  // each schedule node once

// `before` comes first in every order that is asked for; lower than `after`.
struct OrderedPair {
  std::uint32_t before = 0, after = 0;  // schedule nodes
};

// An order that keeps every edge and every pair of `also`. Number 0 is the one least like 0,
// 1, 2...: of the nodes that may come next always the highest. Every other number gives one at
// random, the same on every machine.
[[nodiscard]] NodeOrder topological_order(const DependencyGraph& dependencies,
                                          std::span<const OrderedPair> also, std::uint64_t number);

// From 0, 1, 2... to another order by swaps of neighbours. If both orders are legal, so is each on
// the way: neighbours are swapped only if they come the other way round at the end.
class AdjacentSwapPath {
 public:
  explicit AdjacentSwapPath(NodeOrder end);
  [[nodiscard]] std::uint64_t swaps() const noexcept { return swaps_before_.back(); }
  // After so many swaps, up to swaps().
  [[nodiscard]] NodeOrder order_after(std::uint64_t swaps) const;
  // What the swap number `swap`, from 0 on, exchanges: the lower node first, and where it is
  // before.
  struct Swap {
    OrderedPair nodes;
    std::uint32_t position = 0;  // of nodes.before; nodes.after is next
  };
  [[nodiscard]] Swap swap_at(std::uint64_t swap) const;

 private:
  [[nodiscard]] std::uint32_t node_moved_by(
      std::uint64_t swap) const noexcept;  // its place at the end

  NodeOrder end_;
  std::vector<std::uint64_t> swaps_before_;  // by place at the end: swaps until all nodes before it
                                             // are there; and all of them
};

}  // namespace reprise::detail

// Topological orders of a dependency graph, and the path of adjacent swaps between two such orders.
// Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

using NodeOrder = std::vector<std::uint32_t>;  // each graph node once

// An additional constraint: `before` precedes `after`. before < after.
struct OrderedPair {
  std::uint32_t before = 0, after = 0;  // graph nodes
};

// Returns an order that respects every edge and every pair of `extra_pairs`. Seed 0 always takes
// the highest ready node, which maximizes the distance from 0, 1, 2, ... Any other seed gives a
// pseudorandom order that is the same on every platform.
[[nodiscard]] NodeOrder topological_order(const DependencyGraph& dependencies,
                                          std::span<const OrderedPair> extra_pairs,
                                          std::uint64_t seed);

// The path from 0, 1, 2, ... to another order by swaps of adjacent nodes. If both orders are valid,
// so is each intermediate order, because only pairs that are inverted in the final order are
// swapped.
class AdjacentSwapPath {
 public:
  explicit AdjacentSwapPath(NodeOrder end);
  [[nodiscard]] std::uint64_t swaps() const noexcept { return swaps_before_.back(); }
  // The order after `swaps` swaps, at most swaps().
  [[nodiscard]] NodeOrder order_after(std::uint64_t swaps) const;
  // The nodes that swap `swap` (from 0) exchanges, the lower node first, and their position before
  // the swap.
  struct Swap {
    OrderedPair nodes;
    std::uint32_t position = 0;  // of nodes.before; nodes.after is at position + 1
  };
  [[nodiscard]] Swap swap_at(std::uint64_t swap) const;

 private:
  // Returns the final position of the node that swap `swap` moves.
  [[nodiscard]] std::uint32_t node_moved_by(std::uint64_t swap) const noexcept;

  NodeOrder end_;
  // By final position: swaps until all earlier nodes are in position. The last entry is the total.
  std::vector<std::uint64_t> swaps_before_;
};

}  // namespace reprise::detail

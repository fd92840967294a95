#include "dependencies/topological_orders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support/random_recording.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

NodeOrder identity(const DependencyGraph& dependencies) {
  NodeOrder order(dependencies.node_count());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

bool is_valid(const DependencyGraph& dependencies, const NodeOrder& order) {
  std::vector<std::uint32_t> position(dependencies.node_count(), kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (const std::uint32_t p : position) {
    if (p == kNone) return false;
  }
  for (const Edge& edge : dependencies.edges) {
    if (position[edge.from] >= position[edge.to]) return false;
  }
  return order.size() == dependencies.node_count();
}

}  // namespace

TEST_CASE("topological orders: each order keeps every edge, and equal seeds give equal orders") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto recording = random_recording({.seed = seed, .barrier_percent = 10, .user_edges = 3});
    const DependencyGraph dependencies = build_dependencies(*recording);
    for (std::uint64_t order_seed = 0; order_seed < 8; ++order_seed) {
      const NodeOrder order = topological_order(dependencies, {}, order_seed);
      CHECK(is_valid(dependencies, order));
      CHECK(order == topological_order(dependencies, {}, order_seed));
    }
  }
}

TEST_CASE(
    "topological orders: seed 0 reverses all unordered nodes, and other seeds give many orders") {
  const DependencyGraph dependencies = build_dependencies(*wide(8));
  CHECK(topological_order(dependencies, {}, 0) == NodeOrder{7, 6, 5, 4, 3, 2, 1, 0});
  std::set<NodeOrder> found;
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    found.insert(topological_order(dependencies, {}, seed));
  CHECK(found.size() > 45);
  const DependencyGraph single_order = build_dependencies(*chain(8));
  CHECK(topological_order(single_order, {}, 0) == identity(single_order));
}

TEST_CASE("topological orders: additional pairs are respected") {
  const DependencyGraph dependencies = build_dependencies(*wide(6));
  const OrderedPair pairs[] = {{0, 5}, {2, 3}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const NodeOrder order = topological_order(dependencies, pairs, seed);
    for (const OrderedPair& pair : pairs) {
      CHECK(std::find(order.begin(), order.end(), pair.before) <
            std::find(order.begin(), order.end(), pair.after));
    }
  }
}

TEST_CASE(
    "adjacent swap path: it leads from recorded order to the target through valid orders only") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto recording =
        random_recording({.seed = seed, .commands = 16, .buffers = 12, .max_accesses = 2});
    const DependencyGraph dependencies = build_dependencies(*recording);
    const NodeOrder end = topological_order(dependencies, {}, seed % 3);
    const AdjacentSwapPath path(end);
    std::uint64_t inversions = 0;
    for (std::size_t i = 0; i < end.size(); ++i) {
      for (std::size_t j = i + 1; j < end.size(); ++j) inversions += end[i] > end[j] ? 1 : 0;
    }
    REQUIRE(path.swaps() == inversions);
    CHECK(path.order_after(0) == identity(dependencies));
    CHECK(path.order_after(path.swaps()) == end);
    for (std::uint64_t swap = 0; swap < path.swaps(); ++swap) {
      NodeOrder order = path.order_after(swap);
      const AdjacentSwapPath::Swap swapped = path.swap_at(swap);
      CHECK(swapped.nodes.before < swapped.nodes.after);
      REQUIRE(order[swapped.position] == swapped.nodes.before);
      REQUIRE(order[swapped.position + 1] == swapped.nodes.after);
      std::swap(order[swapped.position], order[swapped.position + 1]);
      CHECK(order == path.order_after(swap + 1));
      CHECK(is_valid(dependencies, order));
    }
  }
}

TEST_CASE("adjacent swap path: the path to the initial order has no swaps") {
  const DependencyGraph dependencies = build_dependencies(*wide(3));
  const AdjacentSwapPath path(identity(dependencies));
  CHECK(path.swaps() == 0);
  CHECK(path.order_after(0) == identity(dependencies));
}

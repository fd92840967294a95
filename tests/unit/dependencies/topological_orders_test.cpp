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

bool is_legal(const DependencyGraph& dependencies, const NodeOrder& order) {
  std::vector<std::uint32_t> place(dependencies.node_count(), kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (const std::uint32_t p : place) {
    if (p == kNone) return false;
  }
  for (const Edge& edge : dependencies.edges) {
    if (place[edge.from] >= place[edge.to]) return false;
  }
  return order.size() == dependencies.node_count();
}

}  // namespace

TEST_CASE("legal orders: each keeps every edge, and the same number gives the same order") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto recording = random_recording({.seed = seed, .barrier_percent = 10, .user_edges = 3});
    const DependencyGraph dependencies = build_dependencies(*recording);
    for (std::uint64_t number = 0; number < 8; ++number) {
      const NodeOrder order = topological_order(dependencies, {}, number);
      CHECK(is_legal(dependencies, order));
      CHECK(order == topological_order(dependencies, {}, number));
    }
  }
}

TEST_CASE("legal orders: number 0 turns round all that may be, and others are many") {
  const DependencyGraph dependencies = build_dependencies(*wide(8));
  CHECK(topological_order(dependencies, {}, 0) == NodeOrder{7, 6, 5, 4, 3, 2, 1, 0});
  std::set<NodeOrder> found;
  for (std::uint64_t number = 1; number <= 50; ++number)
    found.insert(topological_order(dependencies, {}, number));
  CHECK(found.size() > 45);
  const DependencyGraph only = build_dependencies(*chain(8));
  CHECK(topological_order(only, {}, 0) == identity(only));
}

TEST_CASE("legal orders: pairs are kept besides the edges") {
  const DependencyGraph dependencies = build_dependencies(*wide(6));
  const OrderedPair pairs[] = {{0, 5}, {2, 3}};
  for (std::uint64_t number = 0; number < 20; ++number) {
    const NodeOrder order = topological_order(dependencies, pairs, number);
    for (const OrderedPair& pair : pairs) {
      CHECK(std::find(order.begin(), order.end(), pair.before) <
            std::find(order.begin(), order.end(), pair.after));
    }
  }
}

TEST_CASE(
    "order path: leads from recorded order to the other, one swap of neighbours at a time, by "
    "legal orders only") {
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
      const AdjacentSwapPath::Swap made = path.swap_at(swap);
      CHECK(made.nodes.before < made.nodes.after);
      REQUIRE(order[made.position] == made.nodes.before);
      REQUIRE(order[made.position + 1] == made.nodes.after);
      std::swap(order[made.position], order[made.position + 1]);
      CHECK(order == path.order_after(swap + 1));
      CHECK(is_legal(dependencies, order));
    }
  }
}

TEST_CASE("order path: to the order that it begins with there is nothing to swap") {
  const DependencyGraph dependencies = build_dependencies(*wide(3));
  const AdjacentSwapPath path(identity(dependencies));
  CHECK(path.swaps() == 0);
  CHECK(path.order_after(0) == identity(dependencies));
}

#include "base/forward_order.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

using reprise::detail::connect_each;
using reprise::detail::DirectedEdge;
using reprise::detail::order_forward;

namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs(const std::vector<DirectedEdge>& edges) {
  Pairs all;
  for (const DirectedEdge& edge : edges) all.emplace_back(edge.from, edge.to);
  return all;
}

}  // namespace

TEST_CASE(
    "forward order: backward edges become forward edges; among ready nodes the lowest comes "
    "first") {
  std::vector<DirectedEdge> edges = {{3, 0}, {0, 1}, {3, 1}};
  CHECK(order_forward(4, edges) == std::vector<std::uint32_t>{2, 3, 0, 1});
  CHECK(pairs(edges) == Pairs{{1, 2}, {1, 3}, {2, 3}});
}

TEST_CASE(
    "forward order: a duplicate edge is kept once, and nodes without edges keep their order") {
  std::vector<DirectedEdge> edges = {{0, 2}, {0, 2}};
  CHECK(order_forward(3, edges) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(pairs(edges) == Pairs{{0, 2}});
  std::vector<DirectedEdge> no_edges;
  CHECK(order_forward(0, no_edges).empty());
}

TEST_CASE("forward order: few nodes are connected directly, many through one join") {
  std::vector<DirectedEdge> edges;
  std::uint32_t joins = 0;
  const auto join = [&joins] {
    ++joins;
    return std::uint32_t{100};
  };
  const std::vector<std::uint32_t> eight = {0, 1, 2, 3, 4, 5, 6, 7},
                                   nine = {10, 11, 12, 13, 14, 15, 16, 17, 18};
  connect_each(eight, eight, edges, join);
  CHECK(edges.size() == 64);
  CHECK(joins == 0);
  edges.clear();
  connect_each(eight, nine, edges, join);
  CHECK(joins == 1);
  CHECK(edges.size() == 17);
  CHECK(edges.front().to == 100);
  CHECK(edges.back().from == 100);
}

TEST_CASE("forward order: nodes on a cycle and behind it are omitted") {
  std::vector<DirectedEdge> edges = {{0, 1}, {1, 2}, {2, 1}, {2, 3}};
  CHECK(order_forward(5, edges) == std::vector<std::uint32_t>{0, 4});
}

// Topological order of nodes given as numbers, and edge helpers for readers of native CUDA graphs.
// Knows no CUDA. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

struct DirectedEdge {
  std::uint32_t from = 0, to = 0;
};

// Appends an edge for each pair of `from` and `to`. Above 64 pairs, the edges go through a join
// node: make_join() adds the node and returns its number.
template <class MakeJoin>
void connect_each(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
                  std::vector<DirectedEdge>& edges, MakeJoin&& make_join) {
  constexpr std::size_t kMany = 64;
  if (from.size() * to.size() > kMany) {
    const std::uint32_t join = make_join();
    for (const std::uint32_t before : from) edges.push_back({before, join});
    for (const std::uint32_t after : to) edges.push_back({join, after});
    return;
  }
  for (const std::uint32_t before : from) {
    for (const std::uint32_t after : to) edges.push_back({before, after});
  }
}

// Returns the numbers of `nodes` nodes in topological order; among ready nodes, the lowest number
// comes first. Omits nodes on a cycle and nodes reachable from one. If there is no cycle, renumbers
// `edges` by position in that order, sorted by (to, from), without duplicates.
[[nodiscard]] std::vector<std::uint32_t> order_forward(std::uint32_t nodes,
                                                       std::vector<DirectedEdge>& edges);

}  // namespace reprise::detail

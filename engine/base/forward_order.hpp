// Topological order of nodes given as numbers, and what readers of native CUDA graphs need to
// expand graphs inside graphs. Knows no CUDA. Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
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

// The ends of a part that replaces one node of a graph: its nodes without predecessors, and those
// without successors.
struct PartEnds {
  std::vector<std::uint32_t> first, last;
};

// Appends to `edges` the edges between the parts that replace the nodes of a graph; `between` are
// the edges of the graph. Returns the ends of the whole. `make_join`: see connect_each().
template <class MakeJoin>
PartEnds connect_parts(std::span<const PartEnds> parts, std::span<const DirectedEdge> between,
                       std::vector<DirectedEdge>& edges, MakeJoin&& make_join) {
  std::vector<bool> has_before(parts.size(), false), has_after(parts.size(), false);
  for (const DirectedEdge& edge : between) {
    has_after[edge.from] = has_before[edge.to] = true;
    connect_each(parts[edge.from].last, parts[edge.to].first, edges, make_join);
  }
  PartEnds whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartEnds& part = parts[i];
    if (!has_before[i]) whole.first.insert(whole.first.end(), part.first.begin(), part.first.end());
    if (!has_after[i]) whole.last.insert(whole.last.end(), part.last.begin(), part.last.end());
  }
  return whole;
}

// Returns the numbers of `nodes` nodes in topological order; among ready nodes, the lowest number
// comes first. Omits nodes on a cycle and nodes reachable from one. If there is no cycle, renumbers
// `edges` by position in that order, sorted by (to, from), without duplicates.
[[nodiscard]] std::vector<std::uint32_t> order_forward(std::uint32_t nodes,
                                                       std::vector<DirectedEdge>& edges);

// The same with the nodes themselves, which are sorted.
template <class Node>
void sort_forward(std::vector<Node>& nodes, std::vector<DirectedEdge>& edges) {
  const auto order = order_forward(static_cast<std::uint32_t>(nodes.size()), edges);
  if (order.size() == nodes.size() && std::is_sorted(order.begin(), order.end())) return;
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (const std::uint32_t node : order) sorted.push_back(std::move(nodes[node]));
  nodes = std::move(sorted);
}

}  // namespace reprise::detail

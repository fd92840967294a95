// An order in which nodes could run; and what readers of CUDA graphs that others made share: edges
// between what begins and ends a child graph. Knows no CUDA. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

struct DirectedEdge {
  std::uint32_t from = 0, to = 0;
};

// Appends edges from each to each, or where those are many, through a join: make_join() adds a node
// and gives its number.
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

// The numbers of `nodes` nodes in an order in which every edge leads forward, of those that may
// come next always the lowest. Nodes in a circle of edges, and those behind it, are left out; where
// there is none, `edges` are numbered by that order from then on: by to, then from; each once.
[[nodiscard]] std::vector<std::uint32_t> order_forward(std::uint32_t nodes,
                                                       std::vector<DirectedEdge>& edges);

}  // namespace reprise::detail

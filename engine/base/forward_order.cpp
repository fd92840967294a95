#include "base/forward_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace reprise::detail {

std::vector<std::uint32_t> order_forward(std::uint32_t nodes, std::vector<DirectedEdge>& edges) {
  std::vector<std::uint32_t> blockers(nodes, 0), position(nodes, 0), order;
  std::vector<std::vector<std::uint32_t>> successors(nodes);
  for (const DirectedEdge& edge : edges) {
    successors[edge.from].push_back(edge.to);
    ++blockers[edge.to];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (blockers[i] == 0) ready.push(i);
  }
  order.reserve(nodes);
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    position[node] = static_cast<std::uint32_t>(order.size());
    order.push_back(node);
    for (const std::uint32_t next : successors[node]) {
      if (--blockers[next] == 0) ready.push(next);
    }
  }
  for (DirectedEdge& edge : edges) edge = {position[edge.from], position[edge.to]};
  const auto key = [](const DirectedEdge& edge) { return std::tuple(edge.to, edge.from); };
  std::sort(edges.begin(), edges.end(),
            [&](const DirectedEdge& a, const DirectedEdge& b) { return key(a) < key(b); });
  const auto duplicates =
      std::unique(edges.begin(), edges.end(),
                  [&](const DirectedEdge& a, const DirectedEdge& b) { return key(a) == key(b); });
  edges.erase(duplicates, edges.end());
  return order;
}

}  // namespace reprise::detail

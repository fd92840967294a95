#include "base/forward_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace reprise::detail {

std::vector<std::uint32_t> order_forward(std::uint32_t nodes, std::vector<DirectedEdge>& edges) {
  std::vector<std::uint32_t> waits(nodes, 0), number(nodes, 0), order;
  std::vector<std::vector<std::uint32_t>> after(nodes);
  for (const DirectedEdge& edge : edges) {
    after[edge.from].push_back(edge.to);
    ++waits[edge.to];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  order.reserve(nodes);
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    number[node] = static_cast<std::uint32_t>(order.size());
    order.push_back(node);
    for (const std::uint32_t next : after[node]) {
      if (--waits[next] == 0) ready.push(next);
    }
  }
  for (DirectedEdge& edge : edges) edge = {number[edge.from], number[edge.to]};
  const auto key = [](const DirectedEdge& edge) { return std::tuple(edge.to, edge.from); };
  std::sort(edges.begin(), edges.end(),
            [&](const DirectedEdge& a, const DirectedEdge& b) { return key(a) < key(b); });
  const auto same =
      std::unique(edges.begin(), edges.end(),
                  [&](const DirectedEdge& a, const DirectedEdge& b) { return key(a) == key(b); });
  edges.erase(same, edges.end());
  return order;
}

}  // namespace reprise::detail

#include "memory/lower_bound.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Bytes of the fullest level. A transient lives from its first use to all uses that follow it.
std::uint64_t fullest_level(const TransientUses& uses, const UseOrder& order, const std::vector<std::uint32_t>& level) {
  std::uint32_t levels = 0;
  for (const std::uint32_t l : level) levels = std::max(levels, l + 1);
  std::vector<std::uint64_t> change(levels + 1, 0);  // modulo 2^64
  for (const Transient& transient : uses.transients) {
    if (transient.use_count == 0) continue;
    std::uint32_t low = level[uses.nodes[transient.first_use]], high = low;
    for (std::uint32_t i = transient.first_use; i < transient.first_use + transient.use_count; ++i) {
      if (!order.follows_first_use(i)) continue;
      low = std::min(low, level[uses.nodes[i]]);
      high = std::max(high, level[uses.nodes[i]]);
    }
    change[low] += transient.bytes;
    change[high + 1] -= transient.bytes;
  }
  std::uint64_t live = 0, most = 0;
  for (const std::uint64_t c : change) most = std::max(most, live += c);
  return most;
}

}  // namespace

std::uint64_t slab_lower_bound(const LoweredGraph& lowered, const TransientUses& uses, const UseOrder& order) {
  std::uint64_t bound = 0;
  for (const Transient& transient : uses.transients) bound = std::max(bound, transient.bytes);

  const std::size_t nodes = lowered.nodes.size();
  std::vector<std::uint32_t> depth(nodes, 0), height(nodes, 0);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const LoweredEdge& edge : lowered.edges_into(node)) depth[node] = std::max(depth[node], depth[edge.from] + 1);
  }
  for (std::uint32_t node = static_cast<std::uint32_t>(nodes); node-- > 0;) {
    for (const LoweredEdge& edge : lowered.edges_into(node)) height[edge.from] = std::max(height[edge.from], height[node] + 1);
  }
  return std::max({bound, fullest_level(uses, order, depth), fullest_level(uses, order, height)});
}

}  // namespace reprise::detail

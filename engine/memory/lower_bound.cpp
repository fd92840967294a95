#include "memory/lower_bound.hpp"

#include <algorithm>
#include <numeric>

namespace reprise::detail {

namespace {

// The maximum over all levels of the bytes of transients whose uses span the level.
std::uint64_t fullest_level(const TransientUses& uses, const std::vector<std::uint32_t>& level) {
  std::uint32_t levels = 0;
  for (const std::uint32_t l : level) levels = std::max(levels, l + 1);
  std::vector<std::uint64_t> change(levels + 1, 0);  // between levels, modulo 2^64
  for (std::uint32_t transient = 0; transient < uses.transients.size(); ++transient) {
    const auto nodes = uses.uses_of(transient);
    if (nodes.empty()) continue;
    std::uint32_t low = levels, high = 0;
    for (const std::uint32_t node : nodes) {
      low = std::min(low, level[node]);
      high = std::max(high, level[node]);
    }
    change[low] += uses.transients[transient].bytes;
    change[high + 1] -= uses.transients[transient].bytes;
  }
  std::uint64_t live = 0, max = 0;
  for (const std::uint64_t c : change) max = std::max(max, live += c);
  return max;
}

}  // namespace

std::uint64_t slab_lower_bound(const LoweredGraph& lowered, const TransientUses& uses) {
  std::uint64_t bound = 0;
  for (const Transient& transient : uses.transients) bound = std::max(bound, transient.bytes);

  const std::size_t nodes = lowered.nodes.size();
  std::vector<std::uint32_t> depth(nodes, 0), height(nodes, 0);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const LoweredEdge& edge : lowered.edges_into(node))
      depth[node] = std::max(depth[node], depth[edge.from] + 1);
  }
  for (std::uint32_t node = static_cast<std::uint32_t>(nodes); node-- > 0;) {
    for (const LoweredEdge& edge : lowered.edges_into(node))
      height[edge.from] = std::max(height[edge.from], height[node] + 1);
  }
  std::vector<std::uint32_t> position(nodes);  // in creation order
  std::iota(position.begin(), position.end(), 0u);
  return std::max({bound, fullest_level(uses, depth), fullest_level(uses, height),
                   fullest_level(uses, position)});
}

}  // namespace reprise::detail

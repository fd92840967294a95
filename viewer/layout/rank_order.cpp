#include "layout/rank_order.hpp"

#include <algorithm>

namespace reprise::viewer {

Straights straights_of(const LayeredGraph& graph, const RankOrder& order) {
  Straights result;
  if (graph.segments.empty()) {
    result.above.assign(graph.item_count(), 0);
    result.below.assign(graph.item_count(), 0);
    return result;
  }
  result.above.resize(graph.item_count());
  result.below.resize(graph.item_count());
  for (std::uint32_t r = 0; r < graph.rank_count; ++r) {
    std::uint32_t heads = 0, tails = 0;
    for (const std::uint32_t item : order.rank(r)) {
      result.below[item] = order.gap[item] + heads;
      result.above[item] = order.gap[item] + tails;
      if (graph.kind[item] == ItemKind::Head) ++heads;
      if (graph.kind[item] == ItemKind::Tail) ++tails;
    }
  }
  return result;
}

std::uint32_t segment_position(const RankOrder& order, std::uint32_t r, std::uint32_t place) {
  const auto items = order.rank(r);
  const auto right = std::partition_point(
      items.begin(), items.end(), [&](std::uint32_t item) { return order.gap[item] <= place; });
  return place + static_cast<std::uint32_t>(right - items.begin());
}

}  // namespace reprise::viewer

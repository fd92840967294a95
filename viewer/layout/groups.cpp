#include "layout/groups.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

void include(Rect& rect, bool is_first, const Rect& other) {
  if (is_first) {
    rect = other;
    return;
  }
  rect = {std::min(rect.left, other.left), std::min(rect.top, other.top),
          std::max(rect.right, other.right), std::max(rect.bottom, other.bottom)};
}

}  // namespace

std::vector<Rect> group_rectangles(const LayoutGraph& graph, const std::vector<Point>& centres,
                                   float padding) {
  std::vector<Rect> result(graph.group_parent.size());
  std::vector<bool> filled(result.size(), false);
  const auto add = [&](std::uint32_t group, const Rect& rect) {
    include(result[group], !filled[group], rect);
    filled[group] = true;
  };
  for (std::uint32_t n = 0; n < graph.node_group.size(); ++n) {
    if (graph.node_group[n] == kNoGroup) continue;
    const float x = graph.sizes[n].width / 2, y = graph.sizes[n].height / 2;
    add(graph.node_group[n],
        {centres[n].x - x, centres[n].y - y, centres[n].x + x, centres[n].y + y});
  }
  for (std::size_t g = result.size(); g-- > 0;) {
    if (!filled[g]) continue;
    Rect& rect = result[g];
    rect = {rect.left - padding, rect.top - padding, rect.right + padding, rect.bottom + padding};
    if (graph.group_parent[g] != kNoGroup) add(graph.group_parent[g], rect);
  }
  return result;
}

}  // namespace reprise::viewer

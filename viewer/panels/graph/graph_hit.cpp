#include "panels/graph/graph_hit.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

namespace {

constexpr float kSlop = 3, kLinkSlop = 6;  // tolerance in screen points

float distance(ImVec2 p, ImVec2 a, ImVec2 b) {
  const float x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
  const float t =
      length > 0 ? std::clamp(((p.x - a.x) * x + (p.y - a.y) * y) / length, 0.0f, 1.0f) : 0;
  return std::hypot(p.x - a.x - t * x, p.y - a.y - t * y);
}

Rect around(const GraphDrawContext& d, ImVec2 at, float slop) {
  return d.on_plane({at.x - slop, at.y - slop, at.x + slop, at.y + slop});
}

std::uint32_t nearest_box(const GraphDrawContext& d, ImVec2 at) {
  const float slop = graph_detail(d.zoom()) >= GraphDetail::Plain ? kSlop * d.theme().scale : 0;
  std::vector<std::uint32_t> found;
  d.scene.box_index.find(around(d, at, slop), found);
  std::uint32_t nearest = trace::kNone;
  float min_distance = 0;
  for (const std::uint32_t box : found) {
    const Rect r = d.on_screen(d.scene.boxes[box].rect);
    const float distance_to = std::hypot(at.x - std::clamp(at.x, r.left, r.right),
                                         at.y - std::clamp(at.y, r.top, r.bottom));
    if (nearest != trace::kNone && distance_to >= min_distance) continue;
    nearest = box;
    min_distance = distance_to;
  }
  return nearest;
}

std::uint32_t nearest_link(const GraphDrawContext& d, ImVec2 at) {
  const float slop = kLinkSlop * d.theme().scale;
  const Rect visible{at.x - slop, at.y - slop, at.x + slop, at.y + slop};
  std::vector<std::uint32_t> found;
  std::vector<ImVec2> path;
  d.scene.link_index.find(around(d, at, slop), found);
  std::uint32_t nearest = trace::kNone;
  float min_distance = slop;
  for (const std::uint32_t link : found) {
    if ((d.scene.links[link].causes & d.causes) == 0) continue;
    trace_graph_link(d, link, visible, path);
    for (std::size_t i = 1; i < path.size(); ++i) {
      const float distance_to = distance(at, path[i - 1], path[i]);
      if (distance_to >= min_distance) continue;
      nearest = link;
      min_distance = distance_to;
    }
  }
  return nearest;
}

}  // namespace

GraphHit hit_graph(const GraphDrawContext& drawing, ImVec2 at) {
  GraphHit hit;
  hit.box = nearest_box(drawing, at);
  if (hit.box != trace::kNone) return hit;
  for (std::uint32_t a = static_cast<std::uint32_t>(drawing.scene.areas.size());
       a-- > 0;) {  // innermost first
    for (const GraphArea::Column& column : drawing.scene.areas[a].columns) {
      const Rect title = area_title(drawing, drawing.scene.areas[a], column);
      if (title.width() <= 0 || at.x < title.left || at.x > title.right || at.y < title.top ||
          at.y > title.bottom)
        continue;
      hit.area = a;
      return hit;
    }
  }
  hit.link = nearest_link(drawing, at);
  return hit;
}

std::uint32_t edge_of_link(const GraphDrawContext& drawing, std::uint32_t link) {
  const auto edges = drawing.scene.edges_of(link);
  const auto& record = drawing.scene.graph().record().edges;
  const auto drawn = std::find_if(edges.begin(), edges.end(), [&](std::uint32_t e) {
    return (cause_bit(record[e].cause) & drawing.causes) != 0;
  });
  return drawn == edges.end() ? edges.front() : *drawn;
}

std::uint32_t area_of_node(const GraphScene& scene, std::uint32_t node) {
  const std::uint32_t label = scene.graph().record().nodes[node].label;
  for (std::uint32_t a = 0; a < scene.areas.size(); ++a) {
    if (label != 0 && scene.areas[a].group == label - 1) return a;
  }
  return trace::kNone;
}

}  // namespace reprise::viewer

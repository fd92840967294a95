#include "panels/graph/graph_layouts.hpp"

#include <algorithm>

#include "layout/folding.hpp"

namespace reprise::viewer {

namespace {

// Scenes of more boxes are laid out once: downwards, and for one size of the panel.
constexpr std::size_t kMaxRefolded = 2000;
// Folded scenes of more boxes are too deep to be read to the right.
constexpr std::size_t kMaxTurned = 200;

// True if a scene made for `before` should be made again for `now`.
bool is_far(float now, float before) { return now > 1.5f * before || before > 1.5f * now; }

float fit_zoom(float width, float height, const GraphLayoutDesc& desc) {
  return std::min({1.0f, desc.width / std::max(width, 1.0f), desc.height / std::max(height, 1.0f)});
}

// Estimates the size of a scene laid out to the right from the size of the scene laid out
// downwards.
Size turned_size(const GraphScene& down) {
  double width = 0, height = 0;
  for (const GraphBox& box : down.boxes) {
    width += static_cast<double>(box.rect.width());
    height += static_cast<double>(box.rect.height());
  }
  const double boxes = static_cast<double>(std::max<std::size_t>(down.boxes.size(), 1)),
               gap = static_cast<double>(26 * down.key.scale);
  width /= boxes;
  height /= boxes;
  const double ranks = static_cast<double>(down.bounds.height()) / (height + 1.4 * gap),
               max_per_rank = static_cast<double>(down.bounds.width()) / (width + 0.6 * gap);
  return {static_cast<float>(ranks * (width + 2 * gap)),
          static_cast<float>(max_per_rank * (height + gap))};
}

GraphScene make_best_scene(GraphSceneKey key, const GraphLayoutDesc& desc) {
  key.direction = Direction::Down;
  GraphScene down = make_graph_scene(key);
  if (down.boxes.size() > (down.is_folded ? kMaxTurned : kMaxRefolded)) return down;
  const auto zoom_of = [&](Size size) { return fit_zoom(size.width, size.height, desc); };
  const float zoom = zoom_of({down.bounds.width(), down.bounds.height()});
  if (!down.is_folded && (zoom >= 1 || zoom_of(turned_size(down)) < zoom)) return down;
  key.direction = Direction::Right;
  GraphScene right = make_graph_scene(key);
  // Prefer Down unless it is folded and Right can be read, or Right shows the graph noticeably
  // larger.
  const float turned = zoom_of({right.bounds.width(), right.bounds.height()});
  const bool is_better = down.is_folded
                             ? !right.is_folded && turned >= static_cast<float>(kReadableZoom)
                             : turned > 1.05f * zoom;
  return is_better ? right : down;
}

}  // namespace

std::shared_ptr<const GraphScene> GraphLayouts::request(const GraphLayoutDesc& desc) {
  if (chosen_for_ != desc.graph->key().graph) {
    chosen_for_ = desc.graph->key().graph;
    chosen_.reset();
    view_ = {desc.width, desc.height};
  }
  const auto before = scene_.value();
  if (before != nullptr && before->boxes.size() <= kMaxRefolded &&
      (is_far(desc.width, view_.width) || is_far(desc.height, view_.height))) {
    view_ = {desc.width, desc.height};
    chosen_.reset();
  }
  const std::optional<Direction> direction = desc.direction ? desc.direction : chosen_;
  const Key key{{desc.graph, direction.value_or(Direction::Down), desc.collapsed, desc.text,
                 desc.small, desc.scale, view_, desc.max_boxes, desc.opened},
                !direction};
  const auto make = [key, desc] {
    return key.any_direction ? make_best_scene(key.scene, desc) : make_graph_scene(key.scene);
  };
  if (const std::shared_ptr<const GraphScene> current = scene_.value();
      current != nullptr && current->key == key.scene && !key.any_direction) {
    return current;
  }
  scene_.ask(key, make);
  std::shared_ptr<const GraphScene> scene = scene_.value();
  if (key.any_direction && scene_.value(key) != nullptr) chosen_ = scene->key.direction;
  return scene;
}

}  // namespace reprise::viewer

#include "panels/graph_layouts.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kMostToTry = 3000;  // nodes of a graph that is laid out both ways

float fit_zoom(const GraphScene& scene, float width, float height) {
  return std::min(width / std::max(scene.bounds.width(), 1.0f), height / std::max(scene.bounds.height(), 1.0f));
}

GraphScene make_better_scene(GraphSceneKey key, float width, float height) {
  key.direction = Direction::Down;
  GraphScene down = make_graph_scene(key);
  if (key.graph->node_count() > kMostToTry) return down;
  key.direction = Direction::Right;
  GraphScene right = make_graph_scene(key);
  // Down is what people expect of a graph, unless it shows clearly less.
  return std::min(1.0f, fit_zoom(right, width, height)) > 1.15f * std::min(1.0f, fit_zoom(down, width, height)) ? right : down;
}

}  // namespace

std::shared_ptr<const GraphScene> GraphLayouts::ask(const GraphLayoutDesc& desc) {
  if (chosen_for_ != desc.graph->key().graph) chosen_.reset();
  const std::optional<Direction> direction = desc.direction ? desc.direction : chosen_;
  const Key key{{desc.graph, direction.value_or(Direction::Down), desc.collapsed, desc.text, desc.small, desc.scale}, !direction};
  const auto make = [key, width = desc.width, height = desc.height] {
    return key.any_direction ? make_better_scene(key.scene, width, height) : make_graph_scene(key.scene);
  };
  if (const std::shared_ptr<const GraphScene> there = latest_.value(); there != nullptr && there->key == key.scene && !key.any_direction) {
    return there;
  }
  latest_.ask(key, make);
  std::shared_ptr<const GraphScene> scene = latest_.value();
  if (key.any_direction && latest_.value(key) != nullptr) {
    chosen_ = scene->key.direction;
    chosen_for_ = desc.graph->key().graph;
  }
  return scene;
}

}  // namespace reprise::viewer

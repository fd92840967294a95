// GraphLayouts: the scene of a graph panel, laid out in the background. The previous scene remains
// until the next is complete. Selects the layout direction if the description has none. Keeps it
// and the folds of chains for the same graph until the panel's size changes far. Threads: the
// drawing thread's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/async_value.hpp"

namespace reprise::viewer {

struct GraphLayoutDesc {
  std::shared_ptr<const model::Graph> graph;
  std::optional<Direction> direction;  // none: the direction that fits `width` x `height` better
  std::optional<std::set<std::string>> collapsed;
  std::uint32_t max_boxes = kMaxBoxes;
  std::set<std::uint32_t> opened;
  TextWidths text, small;
  float scale = 1, width = 1, height = 1;
};

class GraphLayouts {
 public:
  explicit GraphLayouts(Background& background) : scene_(background) {}

  // Requests a layout and returns the newest complete scene, possibly of an older description or of
  // another graph; null before the first.
  [[nodiscard]] std::shared_ptr<const GraphScene> request(const GraphLayoutDesc& desc);
  [[nodiscard]] bool is_busy() const { return scene_.is_busy(); }
  [[nodiscard]] std::string error() const { return scene_.error(); }

 private:
  struct Key {
    GraphSceneKey scene;
    bool any_direction = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  AsyncValue<Key, GraphScene> scene_;
  Size view_;                        // that the scene fills; for graph chosen_for_
  std::optional<Direction> chosen_;  // likewise
  std::uint32_t chosen_for_ = trace::kNone;
};

}  // namespace reprise::viewer

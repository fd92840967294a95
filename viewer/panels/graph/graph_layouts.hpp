// GraphLayouts: the scene that a graph panel shows, made in the background; the one before it stays
// until the next is there. Decides which way a graph runs until somebody else does. Threads: the
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
  std::optional<Direction> direction;  // none: whichever shows more in `width` by `height`
  std::set<std::string> collapsed;
  TextWidths text, small;
  float scale = 1, width = 1, height = 1;
};

class GraphLayouts {
 public:
  explicit GraphLayouts(Background& background) : latest_(background) {}

  // The scene to show now, maybe of another description, or graph; null: none yet.
  [[nodiscard]] std::shared_ptr<const GraphScene> ask(const GraphLayoutDesc& desc);
  [[nodiscard]] bool is_busy() const { return latest_.is_busy(); }
  [[nodiscard]] std::string error() const { return latest_.error(); }

 private:
  struct Key {
    GraphSceneKey scene;
    bool any_direction = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  AsyncValue<Key, GraphScene> latest_;
  std::optional<Direction> chosen_;  // for chosen_for_
  std::uint32_t chosen_for_ = trace::kNone;
};

}  // namespace reprise::viewer

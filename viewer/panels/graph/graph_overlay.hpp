// Overlays of a drawn graph: the legend of colours and edge causes in a left corner and the minimap
// in the lower right corner. Overlays are separate ImGui windows, which take the mouse from the
// canvas. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

class GraphLegend {
 public:
  // Drawn at the lower left, or at the upper left if that corner covers fewer boxes while the whole
  // graph is visible. Call after Canvas::end(). A click on a cause toggles its bit in `shown`.
  // `title` is drawn above the legend if not empty.
  void draw(const GraphDrawContext& drawing, const std::string& title, std::uint32_t& shown);
  // Screen points to keep free at the left because the legend would cover boxes in either corner; 0
  // if nothing has to be kept free.
  [[nodiscard]] float reserved_width() const noexcept { return reserved_; }

 private:
  // Inputs for which reserved_ was computed.
  struct ReservedFor {
    const GraphScene* scene = nullptr;
    float width = 0, height = 0;
    friend bool operator==(const ReservedFor&, const ReservedFor&) = default;
  };
  void choose_corner(const GraphDrawContext& drawing, ImVec2 size);

  float height_ = 0;  // of the last drawn legend
  float reserved_ = 0;
  ReservedFor reserved_for_;
  bool at_top_ = false;
};

// Draws the whole graph and a frame around the visible part. A click or drag moves the view. Hidden
// while the whole graph is visible.
void draw_graph_minimap(const GraphDrawContext& drawing, Canvas& canvas);

}  // namespace reprise::viewer

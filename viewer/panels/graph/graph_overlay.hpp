// What lies over a drawn graph: the legend of colours and causes at a corner on its left, and the
// minimap at its lower right. They are windows of their own, so that the mouse on them is not on
// the graph. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/graph/graph_drawing.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

class GraphLegend {
 public:
  // Stands at the lower left, or above where fewer boxes are below it when the whole graph is in
  // sight. Draws after Canvas::end(). A click on a cause takes its bit out of `shown`, or puts it
  // back.
  void draw(const GraphDrawing& drawing, const std::string& of_what, std::uint32_t& shown);
  // Points at the left that the graph had better leave to it: it would cover boxes at either
  // corner. 0: none.
  [[nodiscard]] float room() const noexcept { return room_; }

 private:
  // What room_ is for.
  struct Seen {
    const GraphScene* scene = nullptr;
    float width = 0, height = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  void choose_corner(const GraphDrawing& drawing, ImVec2 size);

  float height_ = 0;  // of what was drawn last
  float room_ = 0;
  Seen seen_;
  bool at_top_ = false;
};

// All of the graph, and a frame around what is in sight; a click or drag moves that. Not there
// while everything is in sight.
void draw_graph_minimap(const GraphDrawing& drawing, Canvas& canvas);

}  // namespace reprise::viewer

// GraphDrawing: what the parts of a graph's picture are given to draw with, and how much of each
// box can be read at a zoom. The parts draw in this order: areas, links, boxes, titles. None of
// them changes anything. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/graph/graph_highlights.hpp"
#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

enum class GraphDetail : std::uint8_t {
  Rich,   // three lines: name; kernel, grid or bytes; time and share
  Full,   // two: without the second
  Name,   // of the node
  Plain,  // a coloured rectangle
  Blocks  // boxes that are nearer than a few pixels are one rectangle, in the colour of the hottest
};

// At a zoom of 1 a point of the plane is one of the screen.
[[nodiscard]] GraphDetail graph_detail(float zoom) noexcept;

struct GraphDrawing {
  const GraphScene& scene;
  const GraphHighlights& marks;
  const PanelContext& context;
  const Canvas& canvas;
  ImDrawList& list;
  std::uint32_t causes = 0;  // of links that are drawn

  [[nodiscard]] float zoom() const noexcept { return static_cast<float>(canvas.zoom_x()); }
  [[nodiscard]] const Theme& theme() const noexcept { return context.theme; }
  [[nodiscard]] ImVec2 at(Point p) const {
    return canvas.to_screen(static_cast<double>(p.x), static_cast<double>(p.y));
  }
  [[nodiscard]] Rect on_screen(const Rect& r) const {
    const ImVec2 low = at({r.left, r.top}), high = at({r.right, r.bottom});
    return {low.x, low.y, high.x, high.y};
  }
  // The part of the plane in sight, and `points` of the screen around it.
  [[nodiscard]] Rect in_sight(float points) const;
};

void draw_graph_areas(const GraphDrawing& drawing);
void draw_graph_links(const GraphDrawing& drawing);
void draw_graph_boxes(const GraphDrawing& drawing);
void draw_graph_titles(const GraphDrawing& drawing);

// A link as it is drawn, on the screen; what does not meet `sight` may be left out at its begin or
// be straight.
void trace_graph_link(const GraphDrawing& drawing, std::uint32_t link, const Rect& sight,
                      std::vector<ImVec2>& path);
// Where the title of an area stands on the screen; all zero where it has none at this zoom.
[[nodiscard]] Rect area_title(const GraphDrawing& drawing, const GraphArea& area);
// Plain text at a font's own size.
void draw_graph_text(ImDrawList& list, ImFont* font, ImVec2 at, ImU32 colour,
                     const std::string& text);

}  // namespace reprise::viewer

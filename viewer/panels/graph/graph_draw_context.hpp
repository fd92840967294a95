// GraphDrawContext: const inputs of the functions that draw a graph, and the level of detail for a
// zoom. Draw order: areas, links, boxes, links on blocks, titles. Threads: the drawing thread's.
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
  Rich,   // three lines: name; kernel, grid or bytes; duration and share
  Full,   // two lines: Rich without the second
  Name,   // the node's name
  Plain,  // a coloured rectangle, with the name where there is space
  Blocks  // nearby boxes merged into one rectangle with the colour of the hottest node
};

// At zoom 1, one point of the plane is one point of the screen.
[[nodiscard]] GraphDetail graph_detail(float zoom) noexcept;

struct GraphDrawContext {
  const GraphScene& scene;
  const GraphHighlights& highlights;
  const std::vector<GraphBoxTime>& times;  // per box
  const PanelContext& context;
  const Canvas& canvas;
  ImDrawList& list;
  std::uint32_t causes = 0;  // bit per visible trace::EdgeCause

  [[nodiscard]] float zoom() const noexcept { return static_cast<float>(canvas.zoom_x()); }
  [[nodiscard]] const Theme& theme() const noexcept { return context.theme; }
  [[nodiscard]] ImVec2 at(Point p) const {
    return canvas.to_screen(static_cast<double>(p.x), static_cast<double>(p.y));
  }
  [[nodiscard]] Rect on_screen(const Rect& r) const {
    const ImVec2 low = at({r.left, r.top}), high = at({r.right, r.bottom});
    return {low.x, low.y, high.x, high.y};
  }
  [[nodiscard]] Rect on_plane(const Rect& screen) const;
  // The visible part of the plane, extended by `margin` screen points.
  [[nodiscard]] Rect visible_rect(float margin) const;
};

void draw_graph_areas(const GraphDrawContext& drawing);
void draw_graph_links(const GraphDrawContext& drawing);
// At low zoom: the links of the selection and of the critical path, which blocks would hide.
void draw_graph_links_on_blocks(const GraphDrawContext& drawing);
// Returns the rectangles of the names beside boxes, in screen coordinates.
std::vector<Rect> draw_graph_boxes(const GraphDrawContext& drawing);
// `names`: where no title may be.
void draw_graph_titles(const GraphDrawContext& drawing, std::vector<Rect> names);

// Writes the drawn polyline of a link in screen coordinates to `path`. Segments outside `visible`
// may be omitted at the start or be straight.
void trace_graph_link(const GraphDrawContext& drawing, std::uint32_t link, const Rect& visible,
                      std::vector<ImVec2>& path);
// A title above or beside an area whose boxes are unreadable. `rect`: in screen coordinates.
struct GraphPlate {
  const GraphArea* area;
  Rect rect;
  std::string text;
};
// Outer labels first. No plate covers a box, another plate or one of `names`, and that of a nested
// label is not wider than the area around it.
[[nodiscard]] std::vector<GraphPlate> graph_plates(const GraphDrawContext& drawing,
                                                   std::vector<Rect> names);
// Screen rectangle of an area's title in one of its columns. It stays in sight while a part of that
// column is. Empty if the zoom hides the title.
[[nodiscard]] Rect area_title(const GraphDrawContext& drawing, const GraphArea& area,
                              const GraphArea::Column& column);
// Thickness of the critical path at scale 1.
[[nodiscard]] float critical_width(float zoom) noexcept;
// The cause that determines the colour of a link. Causes added by lowering come last.
[[nodiscard]] trace::EdgeCause main_cause(std::uint32_t causes);
[[nodiscard]] ImU32 area_colour(const Theme& theme, const GraphScene& scene, const GraphArea& area);
// Draws text at the font's native size.
void draw_graph_text(ImDrawList& list, ImFont* font, ImVec2 at, ImU32 colour,
                     const std::string& text);

}  // namespace reprise::viewer

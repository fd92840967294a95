// GraphHit: the object of a drawn graph under the mouse. Boxes take precedence over titles, titles
// over links. Threads: pure functions; the draw functions run on the drawing thread.
#pragma once

#include <cstdint>

#include "panels/graph/graph_draw_context.hpp"

namespace reprise::viewer {

struct GraphHit {
  // Indices into the scene's boxes, areas and links; at most one is not kNone.
  std::uint32_t box = trace::kNone, area = trace::kNone, link = trace::kNone;
  [[nodiscard]] bool is_nothing() const noexcept {
    return box == trace::kNone && area == trace::kNone && link == trace::kNone;
  }
};

// `at`: in screen coordinates.
[[nodiscard]] GraphHit hit_graph(const GraphDrawContext& drawing, ImVec2 at);
// The representative edge of a link: its first edge whose cause is visible.
[[nodiscard]] std::uint32_t edge_of_link(const GraphDrawContext& drawing, std::uint32_t link);
// The innermost area that contains a node; kNone if no area does.
[[nodiscard]] std::uint32_t area_of_node(const GraphScene& scene, std::uint32_t node);

// Draw the contents of a tooltip. Call between BeginTooltip() and EndTooltip().
void draw_box_tooltip(const GraphDrawContext& drawing, std::uint32_t box);
void draw_link_tooltip(const GraphDrawContext& drawing, std::uint32_t link);
void draw_area_tooltip(const GraphDrawContext& drawing, std::uint32_t area);

}  // namespace reprise::viewer

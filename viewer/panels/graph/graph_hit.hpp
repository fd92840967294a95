// GraphHit: what of a drawn graph is below the mouse: a box before a title before a link. Threads:
// pure functions.
#pragma once

#include <cstdint>

#include "panels/graph/graph_drawing.hpp"

namespace reprise::viewer {

struct GraphHit {
  std::uint32_t box = trace::kNone, area = trace::kNone,
                link = trace::kNone;  // one at most; area: in the scene's areas, by its title
  [[nodiscard]] bool is_nothing() const noexcept {
    return box == trace::kNone && area == trace::kNone && link == trace::kNone;
  }
};

// `at`: on the screen.
[[nodiscard]] GraphHit hit_graph(const GraphDrawing& drawing, ImVec2 at);
// The edge of a link that stands for it: the first whose cause is drawn.
[[nodiscard]] std::uint32_t edge_of_link(const GraphDrawing& drawing, std::uint32_t link);
// The innermost area that holds a node; kNone: none.
[[nodiscard]] std::uint32_t area_of_node(const GraphScene& scene, std::uint32_t node);

// What a tooltip says about it, in a tooltip that is being made.
void draw_box_tooltip(const GraphDrawing& drawing, std::uint32_t box);
void draw_link_tooltip(const GraphDrawing& drawing, std::uint32_t link);
void draw_area_tooltip(const GraphDrawing& drawing, std::uint32_t area);

}  // namespace reprise::viewer

// The legend of colours and edge causes beside a drawn graph, and the minimap in the lower right
// corner. The minimap is a separate ImGui window, which takes the mouse from the canvas. Threads:
// the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/graph/graph_draw_context.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

// Width of the legend beside the canvas; 0 if the panel of this width has no space for it.
[[nodiscard]] float graph_legend_width(const Theme& theme, float available);
// A click on a cause toggles its bit in `shown`. `title` is drawn above the legend if not empty.
void draw_graph_legend(const PanelContext& context, const GraphScene& scene, ImVec2 size,
                       const std::string& title, std::uint32_t& shown);

// Draws the whole graph and a frame around the visible part. A click or drag moves the view. Hidden
// while the whole graph is visible.
void draw_graph_minimap(const GraphDrawContext& drawing, Canvas& canvas);
// Writes the frame rate into the upper right corner.
void draw_frame_rate(const GraphDrawContext& drawing);

}  // namespace reprise::viewer

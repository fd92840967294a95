// Writes a laid out graph as an SVG file: all boxes at zoom 1, with names, times, colours, label
// areas, and edges with their cause. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <string>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// `causes`: bit per visible trace::EdgeCause.
[[nodiscard]] std::string graph_svg(const GraphScene& scene, const PanelContext& context,
                                    std::uint32_t causes);
// A text as XML character data or attribute value. Characters that XML forbids become '?'.
[[nodiscard]] std::string xml_text(const std::string& text);

}  // namespace reprise::viewer

// GraphHighlights: what of a drawn graph stands out now, and what steps back: selection, hovering,
// filter, critical path, switched off causes. Made anew for each frame, linear in boxes and links.
// Threads: a pure function of what the frame holds.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Bits.
struct GraphMark {
  static constexpr std::uint8_t kSelected = 1, kHovered = 2, kCritical = 4, kFaded = 8,
                                kHidden = 16;
  static constexpr std::uint8_t kOnTop =
      kSelected | kHovered | kCritical;  // drawn after all others
};

struct GraphHighlights {
  std::vector<std::uint8_t> boxes, links;
};

// `causes`: a bit for each trace::EdgeCause that is drawn.
[[nodiscard]] GraphHighlights graph_marks(const GraphScene& scene, const PanelContext& context,
                                          std::uint32_t causes);

// Of a box: its node, or all that it holds.
struct GraphBoxTime {
  double median = 0, share = 0;  // ns, 0 to 1; sums
  bool measured = false;
  std::uint32_t hottest = 0;  // the node that gives the box its colour
};
[[nodiscard]] GraphBoxTime box_time(const GraphScene& scene, const PanelContext& context,
                                    std::uint32_t box);
// What makes a node the one that colours what holds several; more is hotter.
[[nodiscard]] double node_heat(const PanelContext& context, std::uint32_t node);

}  // namespace reprise::viewer

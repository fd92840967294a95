// GraphHighlights: boxes and links of a drawn graph that are highlighted or faded by the selection,
// hovering, the filter, the critical path and hidden edge causes. With a selection in the graph,
// all but its nodes and edges, their neighbours and the critical path are unrelated. Recomputed in
// each frame in time linear in boxes and links. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Bits of GraphHighlights entries.
struct HighlightBit {
  static constexpr std::uint8_t kSelected = 1, kHovered = 2, kCritical = 4, kFaded = 8,
                                kHidden = 16, kUnrelated = 32;
  static constexpr std::uint8_t kOnTop = kSelected | kHovered | kCritical;  // drawn last
};

struct GraphHighlights {
  std::vector<std::uint8_t> boxes, links;  // HighlightBit masks, one per box and per link
};

// `causes`: bit per visible trace::EdgeCause.
[[nodiscard]] GraphHighlights make_graph_highlights(const GraphScene& scene,
                                                    const PanelContext& context,
                                                    std::uint32_t causes);

// Times of a box: those of its node, or sums over its members.
struct GraphBoxTime {
  double median = 0, share = 0;  // ns; 0 to 1
  bool measured = false;
  std::uint32_t hottest = 0;  // the node that determines the colour of the box
};
[[nodiscard]] GraphBoxTime box_time(const GraphScene& scene, const PanelContext& context,
                                    std::uint32_t box);
// Rank of a node among the members of a box; the highest determines the colour of the box.
[[nodiscard]] double node_heat(const PanelContext& context, std::uint32_t node);

}  // namespace reprise::viewer

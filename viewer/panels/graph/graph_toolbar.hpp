// The toolbar above a graph: colour, direction, replays, critical path, labels and node counts.
// Modifies only PanelContext::view and the options; returns any other requested action. Threads:
// the drawing thread's.
#pragma once

#include <cstdint>
#include <optional>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class GraphTimes : std::uint8_t { Range, Replay };

// Options set by the user.
struct GraphOptions {
  std::optional<Direction> direction;  // none: the direction that fits the panel better
  std::uint32_t causes = 0xffffffffu;  // bit per visible trace::EdgeCause
  GraphTimes times = GraphTimes::Range;
  bool legend = true, frame_rate = false;
  // label paths; none: a graph of too many nodes has collapsed labels
  std::optional<std::set<std::string>> collapsed;
  std::uint32_t max_boxes = kMaxBoxes;  // see GraphSceneKey
  std::set<std::uint32_t> opened;       // likewise; nodes of the shown graph
};

struct GraphToolbarViewModel {
  const GraphScene* scene = nullptr;  // null before the first layout
  Direction direction = Direction::Down;
  bool is_busy = false;  // a layout is running
};

enum class GraphToolbarAction : std::uint8_t { Nothing, Fit };
[[nodiscard]] GraphToolbarAction draw_graph_toolbar(PanelContext& context,
                                                    const GraphToolbarViewModel& view_model,
                                                    GraphOptions& options);

// Collapses all outermost labels and groups equal nodes of a graph of too many, or draws every
// node.
void collapse_all(const model::Graph& graph, GraphOptions& options);
void expand_all(GraphOptions& options);

}  // namespace reprise::viewer

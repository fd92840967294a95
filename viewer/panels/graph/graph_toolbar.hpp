// GraphToolbar: the row above a drawn graph: what colours it, which way it runs, whose times it
// shows, its critical path, its labels, and how many nodes there are or match. Acts on nothing
// itself beside the view: returns what was asked for. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <optional>

#include "panels/graph/graph_scene.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class GraphTimes : std::uint8_t { Range, Replay };

// What the panel's user chose.
struct GraphOptions {
  std::optional<Direction> direction;  // none: whichever fits the panel better
  std::uint32_t causes = 0xffffffffu;  // a bit for each trace::EdgeCause that is drawn
  GraphTimes times = GraphTimes::Range;
  bool legend = true;
  std::set<std::string> collapsed;  // paths of labels
};

struct GraphToolbarViewModel {
  const GraphScene* scene = nullptr;  // null: not yet
  Direction direction = Direction::Down;
  bool is_busy = false;  // a new picture is being made
};

enum class GraphWish : std::uint8_t { Nothing, Fit };
[[nodiscard]] GraphWish draw_graph_toolbar(PanelContext& context,
                                           const GraphToolbarViewModel& view_model,
                                           GraphOptions& options);

// The combo of what nodes are coloured by.
void draw_colour_combo(PanelContext& context);
[[nodiscard]] const char* colour_name(ColourBy by);
// Paths of all outermost labels with a node in or below them.
[[nodiscard]] std::set<std::string> outermost_labels(const model::Graph& graph);

}  // namespace reprise::viewer

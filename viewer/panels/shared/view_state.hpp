// ViewState: the user's choices, shared by all panels: selection, filter, range of replays and
// shown replay. Holds ids only, so it stays valid across document revisions. Threads: drawing
// thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/replay_statistics.hpp"
#include "model/selection.hpp"

namespace reprise::viewer {

enum class UpperTab : std::uint8_t { Graph, Timeline, Sync };
enum class LowerTab : std::uint8_t { Nodes, Memory, Compare, Messages };

// The node property that selects the node colour in the graph, the timeline and the table.
enum class ColourBy : std::uint8_t { Median, P99, Share, Slack, Kind, Label, Lane };

struct ViewState {
  model::GraphKey graph;  // the shown graph
  model::Selection selection;
  // The item under the mouse in any panel. The panel under the mouse sets it in every frame.
  model::Selection hovered;
  model::Filter filter;
  model::ReplayRange range;  // indices into the graph's replays; default: all
  // The replay that timeline, memory and inspector show; empty: the newest sampled replay.
  std::optional<std::uint64_t> replay;
  ColourBy colour_by = ColourBy::Median;
  bool critical_path = true;  // highlight the critical path
  bool follow = true;         // live: keep the newest replays visible
  bool paused = false;        // live: freeze the document; the trace keeps recording

  UpperTab upper = UpperTab::Graph;
  LowerTab lower = LowerTab::Nodes;

  // Requests by a key or a click. The handling panel clears its flag in the next frame.
  bool focus_search = false;      // Ctrl+F
  bool reveal_selection = false;  // scroll every panel to the selection
  bool fit = false;               // Home: zoom to fit in the focused panel

  void select(model::Selection item) {
    selection = std::move(item);
    reveal_selection = true;
  }
  // True if `range` selects fewer than all replays.
  [[nodiscard]] bool has_range() const noexcept {
    return range.first != 0 || range.count != static_cast<std::size_t>(-1);
  }
};

}  // namespace reprise::viewer

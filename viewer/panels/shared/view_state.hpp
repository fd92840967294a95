// ViewState: what the user chose, shared by all panels: one selection, one filter, one range of
// replays, one replay. Ids only, so that it stays valid from one document to the next. Threads: the
// drawing thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/replay_statistics.hpp"
#include "model/selection.hpp"

namespace reprise::viewer {

enum class UpperTab : std::uint8_t { Graph, Timeline, Sync };
enum class LowerTab : std::uint8_t { Nodes, Memory, Compare, Messages };

// What nodes are coloured by, in the graph, the timeline and the table.
enum class ColourBy : std::uint8_t { Median, P99, Share, Slack, Kind, Label, Lane };

struct ViewState {
  model::GraphKey graph;  // that is shown
  model::Selection selection;
  model::Selection hovered;  // what the mouse is on, in whichever panel; set anew in every frame by
                             // the panel below the mouse
  model::Filter filter;
  model::ReplayRange range;  // of the graph's replays, by place in its list; all of them by default
  std::optional<std::uint64_t> replay;  // the replay that timeline, memory and inspector show;
                                        // none: the newest that has samples
  ColourBy colour_by = ColourBy::Median;
  bool critical_path = true;  // is marked
  bool follow = true;         // live: the newest replays stay in sight
  bool paused = false;        // live: the document stays as it was; the trace goes on

  UpperTab upper = UpperTab::Graph;
  LowerTab lower = LowerTab::Nodes;

  // Asked for by a key or a click, and taken (set to false) by whom it is for, in the next frame.
  bool focus_search = false;      // Ctrl+F
  bool reveal_selection = false;  // bring what is selected into sight, in every panel
  bool fit = false;               // Home: everything into sight, in the panel with the focus

  void select(model::Selection what) {
    selection = std::move(what);
    reveal_selection = true;
  }
  // True if a replay range narrower than all replays is chosen.
  [[nodiscard]] bool has_range() const noexcept {
    return range.first != 0 || range.count != static_cast<std::size_t>(-1);
  }
};

}  // namespace reprise::viewer

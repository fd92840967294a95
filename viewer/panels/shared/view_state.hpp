// ViewState: the user's choices, shared by all panels: selection, filter, range of replays and
// shown replay. Holds ids only, so it stays valid across document revisions. Threads: drawing
// thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/replay_statistics.hpp"
#include "model/selection.hpp"
#include "panels/shared/views.hpp"

namespace reprise::viewer {

// The node property that selects the node colour in the graph, the timeline and the table.
enum class ColourBy : std::uint8_t { Median, P99, Share, Slack, Kind, Label, Lane };

// The user's request to export a table as CSV.
struct TableExport {
  enum class To : std::uint8_t { Clipboard, File } to = To::Clipboard;
  std::optional<std::size_t> row = {};  // only this row; empty: all
};
// A file to save. The user chooses its path.
struct FileToSave {
  std::string name;  // proposed
  std::string contents;
};

struct ViewState {
  model::GraphKey graph;  // the shown graph; set by show_graph() and show_replay()
  model::Selection selection;
  // The item under the mouse in any panel. The panel under the mouse sets it in every frame.
  model::Selection hovered;
  model::Filter filter;
  model::ReplayRange range;  // of the graph's replays; default: all
  // The replay that timeline, memory and inspector show; empty: the newest sampled replay.
  std::optional<std::uint64_t> replay;
  ColourBy colour_by = ColourBy::Median;
  bool critical_path = true;  // highlight the critical path
  bool follow = true;         // live: keep the newest replays visible
  bool paused = false;        // live: freeze the document; the trace keeps recording

  View upper = View::Graph, lower = View::Nodes;  // the selected tab of each row
  View front = View::Graph;  // the view shown last; a low window shows only this one
  bool fills_window = false;  // `front` fills the window
  // Below these, the user allows the viewer to read the source files that a trace names. Remembered
  // by the application.
  std::vector<std::string> source_folders;
  bool source_folders_are_fixed = false;  // the user can neither allow nor forbid one

  // Requests to compare all replays of these graphs. The Compare panel clears them.
  std::optional<model::GraphKey> compare_a, compare_b;

  // Requests by a key or a click. The handling panel clears its flag in the next frame.
  bool focus_search = false;      // Ctrl+F
  bool focus_note = false;        // Bookmark: the note of the selection
  bool open_bookmarks = false;    // Ctrl+B
  bool reveal_selection = false;  // scroll every panel to the selection
  bool fit = false;               // Home: zoom to fit in the focused panel
  std::optional<TableExport> table_export;  // of the table with the menu; see end_table()
  bool graph_svg = false;                   // the Graph panel sets `save` to its drawing
  std::optional<FileToSave> save;           // the application asks for the path
  // The name of a format of `reprise export`, for the whole trace; the application asks for the
  // path.
  std::optional<std::string> export_trace;
  // Compare: the replays with the durations of `range` with the other replays.
  bool compare_with_rest = false;

  // Another graph shows all its replays, and its newest sampled one.
  void show_graph(model::GraphKey key) {
    if (key == graph) return;
    graph = key;
    range = {};
    replay.reset();
  }
  void show_replay(model::GraphKey key, std::uint64_t number) {
    show_graph(key);
    replay = number;
  }
  void select(model::Selection item) {
    selection = std::move(item);
    reveal_selection = true;
  }
  // Selects an item and shows it, its graph and its replay: returns to a bookmark.
  void go_to(const model::Selection& item) {
    std::visit(
        [&](const auto& target) {
          if constexpr (requires { target.graph; }) show_graph(target.graph);
          if constexpr (requires { target.replay; }) replay = target.replay;
        },
        item);
    if (std::holds_alternative<model::SelectedSpan>(item)) show(View::Timeline);
    select(item);
  }
  // Selects the tab of a view.
  void show(View item) {
    (row_of(item) == TabRow::Upper ? upper : lower) = item;
    front = item;
  }
  // True if `range` selects fewer than all replays.
  [[nodiscard]] bool has_range() const noexcept { return range != model::ReplayRange{}; }
};

}  // namespace reprise::viewer

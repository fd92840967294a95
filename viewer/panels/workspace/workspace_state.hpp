// What a Workspace is made of: its feeds, the one view of them, the facts, the panels. For its own
// files alone. Threads: the drawing thread's.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "panels/compare/compare_panel.hpp"
#include "panels/graph/graph_panel.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/memory/memory_panel.hpp"
#include "panels/messages/messages_panel.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "panels/replays/replays_panel.hpp"
#include "panels/shared/note_bar.hpp"
#include "panels/shared/notes.hpp"
#include "panels/sync/sync_panel.hpp"
#include "panels/timeline/timeline_panel.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/workspace/help_overlay.hpp"
#include "panels/workspace/top_bar.hpp"
#include "panels/workspace/workspace.hpp"
#include "panels/workspace/workspace_view_model.hpp"

namespace reprise::viewer {

enum class PanelPlace : std::uint8_t {
  Strip,
  Graph,
  Timeline,
  Sync,
  Inspector,
  Nodes,
  Memory,
  Compare,
  Messages,
  Count
};

struct Workspace::State {
  static constexpr float kNarrow = 760;  // points: below, the inspector has no place of its own

  State(std::shared_ptr<model::TraceFeed> of, std::shared_ptr<model::TraceFeed> beside,
        Background& work);

  // The document that is shown, the graph of it, and the facts: at the start of a frame.
  void take_document();
  void settle_view();
  void choose_graph();
  void change_graph(model::GraphKey key);
  void step_replay(int by);
  void step_match(int by);
  void escape();

  void draw_empty_document(const Theme& theme);
  void draw_bar(PanelContext& context);
  void draw_body(PanelContext& context, WorkspaceLayout& layout, ImVec2 min, ImVec2 max);
  void draw_two(PanelContext& context, WorkspaceLayout& layout, ImVec2 min, ImVec2 max);
  void draw_upper(PanelContext& context, ImVec2 min, ImVec2 max);
  void draw_lower(PanelContext& context, ImVec2 min, ImVec2 max);
  void draw_upper_panel(PanelContext& context);
  // The inspector, and below it the line for a note.
  void draw_inspector(PanelContext& context, ImVec2 min, ImVec2 max);
  void draw_lower_panel(PanelContext& context);
  // Where there is no room for two: all tabs in one row, and one panel.
  void draw_one(PanelContext& context, ImVec2 min, ImVec2 max);
  [[nodiscard]] static std::vector<Tab> upper_tabs();
  [[nodiscard]] std::vector<Tab> lower_tabs(const Theme& theme) const;
  // What the view says to one panel, and what the panel said to the others.
  void draw_panel(PanelContext& context, PanelPlace place);
  void draw_contents(PanelContext& context, PanelPlace place);
  void begin_turns();
  void end_turns();

  std::shared_ptr<model::TraceFeed> feed, other_feed;  // the second may be null
  Background& background;
  std::shared_ptr<const model::Document> document, other;
  model::FeedStatus status;
  std::string name, other_name;
  ViewState view;
  WorkspaceViewModel view_model;

  std::optional<model::GraphKey> shown;  // in the frame before
  bool chosen_by_user = false;           // which graph is shown
  std::uint32_t newest_seen = 0;         // version of it
  model::ReplayRange range_before;
  std::uint64_t forgotten_before = 0;  // replays of it that a long session no longer has
  std::optional<std::uint64_t> replay_before;

  TopBar bar;
  HelpOverlay help;
  ReplaysPanel replays;
  GraphPanel graph;
  TimelinePanel timeline;
  SyncPanel sync;
  InspectorPanel inspector;
  NodesPanel nodes;
  MemoryPanel memory;
  ComparePanel compare;
  std::optional<Notes> notes;  // of a file; a session has none
  MessagesPanel messages;
  NoteBar note_bar;

  std::optional<View> in_front;  // has the most room, until a splitter is moved
  bool inspector_above = false;  // where it has no place of its own: instead of the upper tabs
  bool lower_alone = false;      // where one panel has a place: it is a lower one
  bool close = false, shade_change = false;

  std::array<bool, static_cast<std::size_t>(PanelPlace::Count)> reveal{};
  model::Selection hovered_before, hovered_next;
  PanelPlace mouse_at = PanelPlace::Count, fit_at = PanelPlace::Count;
};

}  // namespace reprise::viewer

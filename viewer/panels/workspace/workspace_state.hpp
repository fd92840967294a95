// Workspace::State: the feeds, the view state, the view models and the panels. Private to the
// workspace sources. Threads: drawing thread only.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "panels/compare/compare_panel.hpp"
#include "panels/graph/graph_panel.hpp"
#include "panels/graphs/graphs_panel.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/memory/memory_panel.hpp"
#include "panels/messages/messages_panel.hpp"
#include "panels/messages/note_bar.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "panels/ranks/ranks_panel.hpp"
#include "panels/replays/replays_panel.hpp"
#include "panels/shared/notes.hpp"
#include "panels/sync/sync_panel.hpp"
#include "panels/timeline/timeline_panel.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/workspace/console.hpp"
#include "panels/workspace/help_overlay.hpp"
#include "panels/workspace/top_bar.hpp"
#include "panels/workspace/workspace.hpp"
#include "panels/workspace/workspace_view_model.hpp"

namespace reprise::viewer {

// The rows of tabs that an area shows, and whether the inspector is one of its tabs.
enum class TabRows : std::uint8_t { Upper, Lower, Both };
enum class InspectorTab : std::uint8_t { No, Yes };

struct Workspace::State {
  static constexpr float kNarrow = 760;  // points; narrower windows show the inspector as a tab

  // `compared_feed` may be null.
  State(std::shared_ptr<model::TraceFeed> main_feed,
        std::shared_ptr<model::TraceFeed> compared_feed, Background& workers, NotesUse notes_use);

  // Updates document, shown graph and view models at the start of a frame.
  void update_document();
  void validate_view();
  void choose_graph();
  void change_graph(model::GraphKey key);
  void step_replay(int by);
  void step_match(int by);
  void escape();

  void draw_empty_document(const Theme& theme);
  void draw_bar(PanelContext& context);
  void draw_body(PanelContext& context, WorkspaceLayout& layout, ImVec2 min, ImVec2 max);
  // `front`: the selected view of the upper tabs, or of all; `rows`: Both for one panel, Upper for
  // an upper and a lower panel.
  void draw_views(PanelContext& context, WorkspaceLayout& layout, View front, TabRows rows,
                  ImVec2 min, ImVec2 max);
  // Returns the selected view.
  View draw_tab_bar(const Theme& theme, TabRows rows, InspectorTab inspector_tab, ImVec2 min,
                    ImVec2 max);
  void draw_view(PanelContext& context, View id, const char* region, ImVec2 min, ImVec2 max);
  [[nodiscard]] Tab tab_of(const Theme& theme, std::size_t index) const;  // of kViews[index]
  // The inspector with the note bar below it.
  void draw_inspector(PanelContext& context, ImVec2 min, ImVec2 max);
  // Draws a panel, and forwards hover, reveal and fit requests between panels.
  void draw_panel(PanelContext& context, View id);
  void draw_contents(PanelContext& context, View id);
  void begin_panels();
  void end_panels();

  std::shared_ptr<model::TraceFeed> feed, other_feed;  // other_feed may be null
  Background& background;
  std::shared_ptr<const model::Document> document, other;
  model::FeedStatus status;
  std::string incomplete;  // PanelContext::incomplete
  std::string name, other_name;
  ViewState view;
  WorkspaceViewModel view_model;

  // State of the last frame, to detect changes.
  std::optional<model::GraphKey> shown;
  bool chosen_by_user = false;         // the user selected the shown graph
  bool has_sought_fault = false;       // in the complete document
  std::uint32_t newest_seen = 0;       // newest known version of the shown graph
  std::uint64_t forgotten_before = 0;  // discarded replays of the shown graph

  TopBar bar;
  HelpOverlay help;
  Console console;
  ReplaysPanel replays;
  GraphPanel graph;
  TimelinePanel timeline;
  SyncPanel sync;
  InspectorPanel inspector;
  NodesPanel nodes;
  MemoryPanel memory;
  ComparePanel compare;
  std::optional<Notes> notes;  // files only
  MessagesPanel messages;
  GraphsPanel graphs;
  RanksPanel ranks;
  NoteBar note_bar;

  std::optional<View> enlarged;  // the view with the most space, until the user moves a splitter
  bool close = false, shade_change = false, record = false, attach = false;
  std::string restart;  // the program's new session; empty: none
  std::vector<std::string> program_output;
  std::string program_end;

  std::array<bool, kViewCount> reveal{};  // pending requests
  model::Selection hovered_before, hovered_next;
  View mouse_panel = View::Count, fit_panel = View::Count;  // Count: none
};

}  // namespace reprise::viewer

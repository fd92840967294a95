// TopBar: one line with the session, the graph, the profiling mode and its overhead, replay rates
// and times, losses and the search field. Segments that do not fit move into a menu. Threads:
// drawing thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/trace_feed.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/notes.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct TopBarViewModel {
  const model::FeedStatus& status;
  const ReplaySummary* figures = nullptr;  // null: not ready
  std::size_t matches = 0;                 // number of nodes that match the filter
  std::string search_error = {};           // WorkspaceViewModel::search_error()
  std::string restart = {};                // the program's new session; empty: none
  const Notes* notes = nullptr;            // null: live sessions have none
};

// Requests by clicks, other than changes of the view state.
struct TopBarActions {
  std::optional<model::GraphKey> graph;
  std::optional<trace::LiveProfile> profile;
  int find = 0;  // 1: next match; -1: previous match
  bool close = false, shade = false, help = false, record = false, attach = false;
};

class TopBar {
 public:
  [[nodiscard]] static float height(const Theme& theme);
  // Fills the width of the current window.
  [[nodiscard]] TopBarActions draw(PanelContext& context, const TopBarViewModel& view_model);

 private:
  struct Segment {
    int rank = 0;  // the segment with the lowest rank is hidden first
    float width = 0;
    std::string name, value;  // for the menu
    std::function<void()> draw;
  };
  void add_session(const PanelContext& context, const TopBarViewModel& view_model);
  void add_graph(const PanelContext& context);
  void add_profile(const PanelContext& context, const TopBarViewModel& view_model);
  void add_figures(const PanelContext& context, const TopBarViewModel& view_model);
  void add_figure(const PanelContext& context, int rank, const std::string& name,
                  const std::string& value, ImU32 colour, const std::string& hint);
  void draw_more(const Theme& theme, const std::vector<const Segment*>& hidden);
  void draw_buttons(PanelContext& context, const TopBarViewModel& view_model);

  std::vector<Segment> segments_;
  TopBarActions actions_;
};

}  // namespace reprise::viewer

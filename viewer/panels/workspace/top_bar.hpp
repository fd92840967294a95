// TopBar: what is looked at and how it goes, in one line: the session, the graph, how closely
// replays are profiled and what that costs, rates and times of replays, what was lost, the search.
// What has no room goes into a menu. Threads: the drawing thread's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/trace_feed.hpp"
#include "panels/graph/graph_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

struct TopBarViewModel {
  const model::FeedStatus& status;
  const ReplayFigures* figures = nullptr;  // null: not yet
  std::size_t matches = 0;                 // of the filter
};

// What a click asks for, beside changes of the view.
struct TopBarActions {
  std::optional<model::GraphKey> graph;
  std::optional<trace::LiveProfile> profile;
  int find = 0;  // 1: the next match; -1: the one before
  bool close = false, shade = false, help = false;
};

class TopBar {
 public:
  [[nodiscard]] static float height(const Theme& theme);
  // Into the current window, whose width it fills.
  [[nodiscard]] TopBarActions draw(PanelContext& context, const TopBarViewModel& view_model);

 private:
  struct Segment {
    int rank = 0;  // the least goes first where there is no room
    float width = 0;
    std::string name, value;  // in the menu
    std::function<void()> draw;
  };
  void add_session(const PanelContext& context, const TopBarViewModel& view_model);
  void add_graph(const PanelContext& context);
  void add_profile(const PanelContext& context, const TopBarViewModel& view_model);
  void add_figures(const PanelContext& context, const TopBarViewModel& view_model);
  void add_figure(const PanelContext& context, int rank, const std::string& name,
                  const std::string& value, ImU32 colour, const std::string& hint);
  void draw_more(const Theme& theme, const std::vector<const Segment*>& left_out);
  void draw_buttons(PanelContext& context);

  std::vector<Segment> segments_;
  TopBarActions actions_;
};

}  // namespace reprise::viewer

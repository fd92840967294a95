// TopBar: what is looked at and how it goes, in one line: the session, the graph, how closely replays are profiled and what that costs, rates and
// times of replays, what was lost, the search. What has no room goes into a menu. Threads: the drawing thread's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/trace_feed.hpp"
#include "panels/frame.hpp"
#include "panels/graph_facts.hpp"

namespace reprise::viewer {

struct TopBarFacts {
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
  [[nodiscard]] TopBarActions draw(Frame& frame, const TopBarFacts& facts);

 private:
  struct Segment {
    int rank = 0;  // the least goes first where there is no room
    float width = 0;
    std::string name, value;  // in the menu
    std::function<void()> draw;
  };
  void add_session(const Frame& frame, const TopBarFacts& facts);
  void add_graph(const Frame& frame);
  void add_profile(const Frame& frame, const TopBarFacts& facts);
  void add_figures(const Frame& frame, const TopBarFacts& facts);
  void add_figure(const Frame& frame, int rank, const std::string& name, const std::string& value, ImU32 colour, const std::string& hint);
  void draw_more(const Theme& theme, const std::vector<const Segment*>& left_out);
  void draw_buttons(Frame& frame);

  std::vector<Segment> segments_;
  TopBarActions actions_;
};

}  // namespace reprise::viewer

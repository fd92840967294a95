// ReplaysPanel: all replays of the shown graph, as the strip above the views and as a view with
// launch latencies, gaps, a histogram and statistics. Both fill the remaining area of the current
// ImGui window and share their data. Modifies only its own state and PanelContext::view. Threads:
// drawing thread only.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class ReplaysPanel {
 public:
  explicit ReplaysPanel(Background& background);
  ReplaysPanel(const ReplaysPanel&) = delete;
  ReplaysPanel& operator=(const ReplaysPanel&) = delete;
  ~ReplaysPanel();

  void draw_strip(PanelContext& context);
  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

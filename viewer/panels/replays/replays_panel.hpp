// ReplaysPanel: the strip of all replays of the shown graph, with a histogram and statistics. Fills
// the remaining area of the current ImGui window. Modifies only its own state and
// PanelContext::view. Threads: drawing thread only.
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

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

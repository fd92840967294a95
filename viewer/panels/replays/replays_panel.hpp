// ReplaysPanel: the strip of all replays of the shown graph, with its histogram. Draws into the
// rest of the current ImGui window; changes nothing but its own view and Frame::view. Threads: the
// drawing thread's.
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

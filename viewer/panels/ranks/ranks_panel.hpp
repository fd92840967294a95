// RanksPanel: which rank of a distributed job arrives last at collectives, how long the others
// wait, and the communication that lengthens replays. Draws into the remaining area of the current
// ImGui window. Modifies only its own state and PanelContext::view. Threads: drawing thread only.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class RanksPanel {
 public:
  explicit RanksPanel(Background& background);
  RanksPanel(const RanksPanel&) = delete;
  RanksPanel& operator=(const RanksPanel&) = delete;
  ~RanksPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

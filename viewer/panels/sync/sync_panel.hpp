// SyncPanel: the edges and barriers of the shown graph with their cost. Draws into the remaining
// area of the current ImGui window. Modifies only its own state and PanelContext::view. Threads:
// the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class SyncPanel {
 public:
  explicit SyncPanel(Background& background);
  SyncPanel(const SyncPanel&) = delete;
  SyncPanel& operator=(const SyncPanel&) = delete;
  ~SyncPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

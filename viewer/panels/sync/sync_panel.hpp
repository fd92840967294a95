// SyncPanel: the barriers and edges, and what they cost. Draws into the rest of the current ImGui
// window; changes nothing but its own view and Frame::view. Threads: the drawing thread's.
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

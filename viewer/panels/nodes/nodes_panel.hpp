// NodesPanel: the table of the nodes of the shown graph. Draws into the rest of the current ImGui
// window; changes nothing but its own view and Frame::view. Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class NodesPanel {
 public:
  explicit NodesPanel(Background& background);
  NodesPanel(const NodesPanel&) = delete;
  NodesPanel& operator=(const NodesPanel&) = delete;
  ~NodesPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

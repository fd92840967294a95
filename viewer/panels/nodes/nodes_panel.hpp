// NodesPanel: the table of the nodes of the shown graph. Fills the remaining area of the current
// ImGui window. Modifies only its own state and PanelContext::view. Threads: drawing thread only.
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

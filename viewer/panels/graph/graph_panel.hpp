// GraphPanel: the layered DAG of the shown graph. Draws into the remaining area of the current
// ImGui window. Modifies only its own state and PanelContext::view. Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class GraphPanel {
 public:
  explicit GraphPanel(Background& background);
  GraphPanel(const GraphPanel&) = delete;
  GraphPanel& operator=(const GraphPanel&) = delete;
  ~GraphPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

// GraphsPanel: all graphs of the process with their times, memory and preparation, grouped into
// families of the same topology. Draws into the remaining area of the current ImGui window.
// Modifies only its own state and PanelContext::view. Threads: drawing thread only.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class GraphsPanel {
 public:
  explicit GraphsPanel(Background& background);
  GraphsPanel(const GraphsPanel&) = delete;
  GraphsPanel& operator=(const GraphsPanel&) = delete;
  ~GraphsPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

// InspectorPanel: the everything about what is selected. Draws into the rest of the current ImGui
// window; changes nothing but its own view and Frame::view. Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class InspectorPanel {
 public:
  explicit InspectorPanel(Background& background);
  InspectorPanel(const InspectorPanel&) = delete;
  InspectorPanel& operator=(const InspectorPanel&) = delete;
  ~InspectorPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

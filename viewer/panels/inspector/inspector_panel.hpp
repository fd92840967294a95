// InspectorPanel: details of the selected item, or of the shown graph. Fills the remaining area of
// the current ImGui window. Modifies only its own state and PanelContext::view. Threads: drawing
// thread only.
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

// TimelinePanel: the nodes of one replay over time. Draws into the remaining area of the current
// ImGui window. Modifies only its own state and PanelContext::view. Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class TimelinePanel {
 public:
  explicit TimelinePanel(Background& background);
  TimelinePanel(const TimelinePanel&) = delete;
  TimelinePanel& operator=(const TimelinePanel&) = delete;
  ~TimelinePanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

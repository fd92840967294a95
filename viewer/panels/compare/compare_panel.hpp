// ComparePanel: the differences between two sections of replays or two traces. Draws into the
// remaining area of the current ImGui window. Modifies only its own state and PanelContext::view.
// Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class ComparePanel {
 public:
  explicit ComparePanel(Background& background);
  ComparePanel(const ComparePanel&) = delete;
  ComparePanel& operator=(const ComparePanel&) = delete;
  ~ComparePanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

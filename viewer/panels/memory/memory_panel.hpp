// MemoryPanel: the slab, pools and buffers. Draws into the remaining area of the current ImGui
// window. Modifies only its own state and PanelContext::view. Threads: the drawing thread's.
#pragma once

#include <memory>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class MemoryPanel {
 public:
  explicit MemoryPanel(Background& background);
  MemoryPanel(const MemoryPanel&) = delete;
  MemoryPanel& operator=(const MemoryPanel&) = delete;
  ~MemoryPanel();

  void draw(PanelContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

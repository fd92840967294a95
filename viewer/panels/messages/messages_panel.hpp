// MessagesPanel: validation findings, graph updates, losses and user notes. Fills the remaining
// area of the current ImGui window. Modifies only its own state and PanelContext::view. Threads:
// drawing thread only.
#pragma once

#include <memory>

#include "panels/shared/notes.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class MessagesPanel {
 public:
  explicit MessagesPanel(Background& background);
  MessagesPanel(const MessagesPanel&) = delete;
  MessagesPanel& operator=(const MessagesPanel&) = delete;
  ~MessagesPanel();

  void draw(PanelContext& context);
  // Adds user notes to the list. `notes` must outlive the panel.
  void show_notes(const Notes& notes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

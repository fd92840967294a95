// MessagesPanel: the validation messages, updates and losses. Draws into the rest of the current
// ImGui window; changes nothing but its own view and Frame::view. Threads: the drawing thread's.
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
  // Lists these too, from now on; they outlive the panel.
  void show_notes(const Notes& notes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::viewer

// NoteBar: a line to write a note on the selected node or replay. Threads: the drawing thread's.
#pragma once

#include <string>

#include "panels/shared/notes.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class NoteBar {
 public:
  [[nodiscard]] static float height(const Theme& theme);
  // Fills the width of the current window. What is selected has to be something that can have a
  // note.
  void draw(PanelContext& context, Notes& notes);

 private:
  model::Selection about_;  // whose text stands in the line
  std::string text_;
  bool is_edited_ = false;
};

}  // namespace reprise::viewer

// NoteBar: a text field that edits the note on the selected node or replay. Threads: drawing thread
// only.
#pragma once

#include <string>

#include "panels/shared/notes.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class NoteBar {
 public:
  [[nodiscard]] static float height(const Theme& theme);
  // Fills the width of the current window. Precondition: Notes::can_have_one() holds for the
  // selection.
  void draw(PanelContext& context, Notes& notes);

 private:
  model::Selection item_;  // whose note the field shows
  std::string text_;
  bool is_edited_ = false;
};

}  // namespace reprise::viewer

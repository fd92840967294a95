// NoteBar: a text field that edits the note on the selected node, replay or span of the timeline,
// and the menu of bookmarks, which are the notes. Threads: drawing thread only.
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

// The name of a note's target: "step, blur", "step, replay 7", "timeline at 1.2 ms, 30.00 us".
[[nodiscard]] std::string note_target_name(const model::Document& document, const Note& note);
// The node, replay or span of a note; empty if the document does not contain it.
[[nodiscard]] model::Selection note_target(const model::Document& document, const Note& note);
// Menu items that return to each note, and one that adds a note to the selection.
void draw_bookmark_items(PanelContext& context, const Notes& notes);

}  // namespace reprise::viewer

// Toolbar: a line of controls. Those that do not fit move into a menu at the end of the line, in
// which each has its own line. Threads: drawing thread only.
#pragma once

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

class Toolbar {
 public:
  // Continues the line of the previous item.
  Toolbar(const Theme& theme, const char* id) : theme_(theme), id_(id) {}
  Toolbar(const Toolbar&) = delete;
  Toolbar& operator=(const Toolbar&) = delete;
  ~Toolbar() { end_menu(); }

  // Places the next control, of this width. The caller draws it if the result is true; otherwise it
  // is in the closed menu.
  [[nodiscard]] bool place(float width);
  // After the last control: whether a text of this width fits on the line, and no menu was needed.
  [[nodiscard]] bool has_room(float width);

 private:
  void end_menu();

  const Theme& theme_;
  const char* id_;
  bool is_full_ = false, is_in_menu_ = false;
};

}  // namespace reprise::viewer

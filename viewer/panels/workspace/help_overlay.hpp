// HelpOverlay: the table of keyboard and mouse shortcuts, drawn on top of all panels. A click
// closes it. Threads: drawing thread only.
#pragma once

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

class HelpOverlay {
 public:
  void toggle() noexcept { open_ = !open_; }
  void close() noexcept { open_ = false; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  // Draws the overlay if it is open. Call outside of any ImGui window.
  void draw(const Theme& theme);

 private:
  bool open_ = false;
  bool was_open_ = false;  // in the last frame; prevents the opening click from closing the overlay
};

}  // namespace reprise::viewer

// HelpOverlay: what keys and mouse do, above everything else, until a key or a click. Threads: the
// drawing thread's.
#pragma once

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

class HelpOverlay {
 public:
  void toggle() noexcept { open_ = !open_; }
  void close() noexcept { open_ = false; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  // Draws nothing unless it is open. Outside of any window.
  void draw(const Theme& theme);

 private:
  bool open_ = false;
  bool was_open_ = false;  // in the frame before: the click that opened it does not close it
};

}  // namespace reprise::viewer

// Choice: a row of joined buttons of which one is on; and a button that is on or off. Threads: the
// drawing thread's.
#pragma once

#include <span>
#include <string>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct ChoiceItem {
  std::string text;
  std::string explanation = {};  // a tooltip
  bool is_enabled = true;
};

// Returns the one that is on after this frame's clicks. Stays on its line; the next item may follow
// with SameLine().
[[nodiscard]] int draw_choice(const Theme& theme, const char* id, std::span<const ChoiceItem> items,
                              int chosen);

struct ToggleDesc {
  std::string text, explanation = {};
  ImU32 colour = 0;  // of a swatch before the text; 0: none
  bool is_on = true;
};
// Returns whether it was clicked.
[[nodiscard]] bool draw_toggle(const Theme& theme, const char* id, const ToggleDesc& desc);

}  // namespace reprise::viewer

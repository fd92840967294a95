// A segmented control (a row of buttons with exactly one selected) and a toggle button. Threads:
// drawing thread only.
#pragma once

#include <span>
#include <string>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct ChoiceItem {
  std::string text;
  std::string explanation = {};  // a tooltip
  bool is_enabled = true;
};

// Returns the index of the selected item after this frame's clicks. The next widget may follow on
// the same line with SameLine().
[[nodiscard]] int draw_choice(const Theme& theme, const char* id, std::span<const ChoiceItem> items,
                              int chosen);

struct ToggleDesc {
  std::string text, explanation = {};
  ImU32 colour = 0;  // colour of a swatch before the text; 0: no swatch
  bool is_on = true;
};
// Returns true if the button was clicked.
[[nodiscard]] bool draw_toggle(const Theme& theme, const char* id, const ToggleDesc& desc);

}  // namespace reprise::viewer

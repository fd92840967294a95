// Button icons, drawn as lines, independent of fonts. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <string>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

enum class Icon : std::uint8_t {
  Back,
  Next,
  Previous,
  Pause,
  Play,
  Follow,
  Sun,
  Moon,
  Search,
  Cross,
  More,
  Help,
  Filter,
  Copy,
  Record,
  Bookmark,
  Fill,
  Export
};
enum class IconState : std::uint8_t { Normal, Active, Disabled };

// A square button of frame height. Returns true if it was clicked.
[[nodiscard]] bool icon_button(const Theme& theme, const char* id, Icon icon,
                               const std::string& hint, IconState state = IconState::Normal);
void draw_icon(ImDrawList& draw, Icon icon, ImVec2 centre, float size, ImU32 colour);

}  // namespace reprise::viewer

// A row of tabs with optional badges. The wheel scrolls tabs that do not fit, and a menu lists all.
// Threads: drawing thread only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct Tab {
  std::string name, hint;
  std::string badge;  // empty: none
  ImU32 badge_colour = 0;
};

[[nodiscard]] float tab_height(const Theme& theme);
struct TabChoice {
  std::size_t chosen = 0;  // index of the selected tab after this frame's clicks
  bool is_double_clicked = false;
};
// `width` as for ImGui::BeginChild().
[[nodiscard]] TabChoice draw_tabs(const Theme& theme, const char* id, std::span<const Tab> tabs,
                                  std::size_t chosen, float width);

}  // namespace reprise::viewer

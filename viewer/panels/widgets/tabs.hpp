// A row of tabs: names, one of them chosen, with a count or a mark beside a name. Scrolls with the
// wheel where they do not fit. Threads: the drawing thread's.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct Tab {
  std::string name, hint;
  std::string badge;  // empty: none
  ImU32 badge_colour = 0;
};

[[nodiscard]] float tab_height(const Theme& theme);
// `width` of what is left; returns which is chosen now.
[[nodiscard]] std::size_t draw_tabs(const Theme& theme, const char* id, std::span<const Tab> tabs,
                                    std::size_t chosen, float width);

}  // namespace reprise::viewer

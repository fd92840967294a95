// Regions: rectangles of a window that a panel fills. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Who moves what does not fit: nobody, or the region.
enum class Scrolls : std::uint8_t { No, Itself };

// On the screen, in the colour of panels; ImGui::EndChild() ends it.
void begin_region(const Theme& theme, const char* id, ImVec2 min, ImVec2 max, Scrolls scrolls);
// The same without free space around, for bars.
void begin_bar(const Theme& theme, const char* id, ImVec2 min, ImVec2 max);

}  // namespace reprise::viewer

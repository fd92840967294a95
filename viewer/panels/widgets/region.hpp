// Regions: rectangles of a window that a panel fills. Threads: drawing thread only.
#pragma once

#include <cstdint>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

// Whether the region scrolls contents that do not fit.
enum class Scrolls : std::uint8_t { No, Itself };

// Begins a region between two screen positions, in the panel colour. End it with ImGui::EndChild().
void begin_region(const Theme& theme, const char* id, ImVec2 min, ImVec2 max, Scrolls scrolls);
// begin_region() without padding and scrolling, for bars.
void begin_bar(const Theme& theme, const char* id, ImVec2 min, ImVec2 max);

}  // namespace reprise::viewer

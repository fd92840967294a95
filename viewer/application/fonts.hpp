// The viewer's fonts, from the system's font directories: Roboto and JetBrains Mono, then common
// alternatives, then ImGui's built-in font. Depends only on ImGui. Threads: UI thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct FontFiles {
  std::filesystem::path text, heading, mono;  // empty if not found
  // user-readable: missing fonts and the packages that provide them
  std::vector<std::string> messages;
};

// Searches $XDG_DATA_HOME, $XDG_DATA_DIRS and ~/.fonts.
[[nodiscard]] FontFiles find_fonts();

// Replaces all fonts of the current ImGui context and sets those of the theme. `pixels`: screen
// pixels per design point; `points`: ImGui points per design point (they differ on displays with
// several pixels per point).
void load_fonts(Theme& theme, const FontFiles& files, float pixels, float points);

}  // namespace reprise::viewer

// The viewer's typefaces, from the system's font folders: Roboto and JetBrains Mono, then what most
// systems have, then ImGui's own. Knows ImGui alone. Threads: the drawing thread's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct FontFiles {
  std::filesystem::path text, heading, mono;  // empty: none was found
  std::vector<std::string> messages;  // for people: what is missing, and the package that has it
};

// Looks in the folders of $XDG_DATA_HOME and $XDG_DATA_DIRS and in ~/.fonts.
[[nodiscard]] FontFiles find_fonts();

// `pixels`: screen pixels for one point of the design; `points`: ImGui's points for one of the
// design (the same, but where a display has more pixels than points). Replaces all fonts of the
// current ImGui context and sets those of the theme.
void load_fonts(Theme& theme, const FontFiles& files, float pixels, float points);

}  // namespace reprise::viewer

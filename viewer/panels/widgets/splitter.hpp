// A draggable divider between two panels. Threads: drawing thread only.
#pragma once

#include <cstdint>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

enum class SplitterAxis : std::uint8_t { Upright, Level };  // direction of the divider

struct SplitterMove {
  float by = 0;        // points since the last frame; positive: right or down
  bool reset = false;  // the divider was double-clicked
  bool is_held = false;
};
[[nodiscard]] SplitterMove draw_splitter(const Theme& theme, const char* id, SplitterAxis axis,
                                         ImVec2 min, ImVec2 max);

}  // namespace reprise::viewer

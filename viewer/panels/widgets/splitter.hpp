// A line between two panels that can be dragged. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

enum class SplitterAxis : std::uint8_t { Upright, Level };  // of the line itself

struct SplitterMove {
  float by = 0;        // points since the last frame, to the right or down
  bool reset = false;  // it was double-clicked
  bool is_held = false;
};
[[nodiscard]] SplitterMove draw_splitter(const Theme& theme, const char* id, SplitterAxis axis,
                                         ImVec2 min, ImVec2 max);

}  // namespace reprise::viewer

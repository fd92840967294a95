// Theme: every colour, font and distance of the viewer, in one place. Panels ask it and name no
// colour of their own. Knows ImGui alone. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include <imgui.h>

#include "trace/records.hpp"

namespace reprise::viewer {

enum class Shade : std::uint8_t { Dark, Light };

struct Theme {
  Shade shade = Shade::Dark;
  float scale = 1;  // of the display: distances below are multiplied already

  ImFont* text = nullptr;     // proportional
  ImFont* small = nullptr;    // proportional, for legends and axes
  ImFont* heading = nullptr;  // proportional, larger
  ImFont* title = nullptr;    // proportional, largest: the product's name; null: as heading
  ImFont* mono = nullptr;     // names of kernels, addresses, columns of numbers

  // Surfaces, from the back to the front.
  ImU32 background = 0, panel = 0, raised = 0, hovered = 0, line = 0;
  // Text at full contrast, what explains it, and what is switched off.
  ImU32 ink = 0, ink_soft = 0, ink_faint = 0;
  // The one accent: selection, focus, what a click would do. `on_accent` is text upon it.
  ImU32 accent = 0, accent_soft = 0, on_accent = 0;
  // States; never the only sign of one.
  ImU32 good = 0, warning = 0, error = 0;
  // Of graphs: nodes without a colour of their own, their border, edges, the critical path.
  ImU32 node = 0, node_border = 0, edge = 0, critical = 0;
  ImU32 gap_predecessor = 0, gap_false = 0, gap_bubble = 0;

  float space = 8, half_space = 4, radius = 4, row = 24, splitter = 5;
};

// How high its lines are on the screen, for what is drawn by ImDrawList.
[[nodiscard]] float font_size(const ImFont* font);

// Sets the colours, distances and ImGui's style; fonts stay as they are.
void apply(Theme& theme, Shade shade, float scale);

// Viridis, 0 to 1 (clamped), opaque: perceptually uniform, and readable without red or green.
[[nodiscard]] ImU32 heat(float part);
// Of ten colours that a colour-blind eye can tell apart (Okabe and Ito's, and two greys); the same
// number, the same colour.
[[nodiscard]] ImU32 category(const Theme& theme, std::uint32_t number);
[[nodiscard]] ImU32 kind_colour(const Theme& theme, trace::NodeKind kind);
[[nodiscard]] ImU32 cause_colour(const Theme& theme, trace::EdgeCause cause);
// Dark or light text, whichever can be read on it.
[[nodiscard]] ImU32 ink_on(ImU32 colour);
[[nodiscard]] ImU32 with_alpha(ImU32 colour, float alpha);

}  // namespace reprise::viewer

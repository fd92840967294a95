// Theme: all colours, fonts and distances of the viewer. Panels define no colours of their own.
// Depends only on ImGui and the trace records. Threads: drawing thread only.
#pragma once

#include <cstdint>

#include <imgui.h>

#include "base/kernel_kind.hpp"
#include "trace/records.hpp"

namespace reprise::viewer {

enum class Shade : std::uint8_t { Dark, Light };

struct Theme {
  Shade shade = Shade::Dark;
  float scale = 1;  // display scale; already applied to the distances below

  ImFont* text = nullptr;     // proportional
  ImFont* small = nullptr;    // proportional, for legends and axes
  ImFont* heading = nullptr;  // proportional, larger
  ImFont* title = nullptr;    // proportional, largest: the product name; null: use `heading`
  ImFont* mono = nullptr;     // kernel names, addresses, columns of numbers

  // Surfaces, back to front.
  ImU32 background = 0, panel = 0, raised = 0, hovered = 0, line = 0;
  // Primary, secondary and disabled text.
  ImU32 ink = 0, ink_soft = 0, ink_faint = 0;
  // Selection, focus and hover effects; `on_accent` is for text on the accent colour.
  ImU32 accent = 0, accent_soft = 0, on_accent = 0;
  // States. A colour is never the only indicator of a state.
  ImU32 good = 0, warning = 0, error = 0;
  // Graphs: nodes without a category colour, node borders, edges, the critical path.
  ImU32 node = 0, node_border = 0, edge = 0, critical = 0;
  ImU32 gap_predecessor = 0, gap_false = 0, gap_bubble = 0;

  float space = 8, half_space = 4, radius = 4, row = 24, splitter = 5;
};

// The line height on the screen, for text drawn through ImDrawList.
[[nodiscard]] float font_size(const ImFont* font);

// Sets the colours, the distances and ImGui's style. Does not change fonts.
void apply(Theme& theme, Shade shade, float scale);

// Viridis colour map for 0 to 1 (clamped), opaque. Perceptually uniform and safe for colour
// blindness.
[[nodiscard]] ImU32 heat(float part);
// One of ten colours that colour-blind users can distinguish (Okabe-Ito and two greys). Colours
// repeat after ten numbers.
[[nodiscard]] ImU32 category(const Theme& theme, std::uint32_t number);
// As category(), without greys and in three shades: repeats after 21 numbers.
[[nodiscard]] ImU32 distinct_colour(const Theme& theme, std::uint32_t number);
// Nodes and kernels of the same kind, such as copies, have the same colour.
[[nodiscard]] ImU32 kind_colour(const Theme& theme, trace::NodeKind kind);
[[nodiscard]] ImU32 kind_colour(const Theme& theme, detail::KernelKind kind);
[[nodiscard]] ImU32 cause_colour(const Theme& theme, trace::EdgeCause cause);
// Dark or light text colour, whichever has more contrast on `colour`.
[[nodiscard]] ImU32 ink_on(ImU32 colour);
[[nodiscard]] ImU32 with_alpha(ImU32 colour, float alpha);

}  // namespace reprise::viewer

// Colours of the memory map and their legend. Threads: the drawing thread's.
#pragma once

#include <cstdint>

#include "panels/memory/memory_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class MemoryColour : std::uint8_t { Buffer, Label, AliasGroup, Size, FirstKind };
inline constexpr const char* kMemoryColourNames[] = {"Buffer", "Label", "Alias group", "Size",
                                                     "Kind of first use"};

// `buffer` must have a span.
[[nodiscard]] ImU32 memory_colour(const Theme& theme, const MemoryViewModel& view_model,
                                  MemoryColour by, std::uint32_t buffer);
// Draws the legend and returns its height.
float draw_memory_legend(const Theme& theme, const MemoryViewModel& view_model, MemoryColour by,
                         ImVec2 at, float width);

}  // namespace reprise::viewer

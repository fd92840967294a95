// What the rectangles of the memory map are coloured by, and the legend that says so. Threads: the
// drawing thread's.
#pragma once

#include <cstdint>

#include "panels/memory/memory_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class MemoryColour : std::uint8_t { Label, AliasGroup, Size, FirstKind };
inline constexpr const char* kMemoryColourNames[] = {"Label", "Shared bytes", "Size",
                                                     "Kind of first user"};

// `buffer` has a span.
[[nodiscard]] ImU32 memory_colour(const Theme& theme, const MemoryViewModel& view_model,
                                  MemoryColour by, std::uint32_t buffer);
// Returns its height.
float draw_memory_legend(const Theme& theme, const MemoryViewModel& view_model, MemoryColour by,
                         ImVec2 at, float width);

}  // namespace reprise::viewer

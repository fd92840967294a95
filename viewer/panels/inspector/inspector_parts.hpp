// Building blocks of the inspector pages: titles, collapsible sections, fields, tiles, links and
// clipped lists. All adapt to the width of the window. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <imgui.h>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// The kind of the inspected item and its name. `chip`: the item's colour in other panels; 0: none.
void draw_title(const Theme& theme, const std::string& kind, const std::string& name,
                ImU32 chip = 0);
// Returns true if the section is open; the caller then draws its contents. `note` appears at the
// right end of the header.
[[nodiscard]] bool draw_section(const Theme& theme, const char* title,
                                const std::string& note = {});
// A wrapped line of secondary text.
void draw_note(const Theme& theme, const std::string& text);

// A label and its value. Draws nothing if the value is empty. A click copies the value.
void draw_value(const Theme& theme, const char* label, const std::string& value,
                const char* explanation = "");
// draw_value() in the monospaced font: for addresses, kernel names, hashes and numbers.
void draw_mono(const Theme& theme, const char* label, const std::string& value,
               const char* explanation = "");

struct Tile {
  const char* name = "";
  std::string value;
  const char* explanation = "";
};
// Arranges the tiles in as many columns as fit, at most four.
void draw_tiles(const Theme& theme, std::span<const Tile> tiles);

struct LinkDesc {
  std::string text, note = {}, detail = {};  // note: right-aligned; detail: one or two lines below
  ImU32 chip = 0;
  bool is_selected = false;
  double part = 0;  // length of a bar below, 0 to 1; 0: no bar
};
// A clickable line. Returns true if it was clicked.
[[nodiscard]] bool draw_link(const Theme& theme, const LinkDesc& desc);
// A small button. Returns true if it was clicked.
[[nodiscard]] bool draw_action(const Theme& theme, const char* text, const char* explanation = "");
// Places the next action, with this text, on the same line if it fits.
void next_action(const char* text);

// Links to nodes and buffers. A click selects the item; hovering sets ViewState::hovered.
void draw_node_link(PanelContext& context, std::uint32_t node, const std::string& note = {},
                    const std::string& detail = {}, double part = 0);
void draw_buffer_link(PanelContext& context, std::uint32_t buffer, const std::string& note = {},
                      const std::string& detail = {});

enum class ListRow : std::uint8_t { OneLine, TwoLines, ThreeLines };  // text and details
// The first items of `count`, with a button that shows all. `each` draws the link of an item.
void draw_list(const Theme& theme, const char* id, std::size_t count, ListRow row,
               const std::function<void(std::size_t)>& each);

// "[0, 4,096)"; "the whole buffer" if the range covers it.
[[nodiscard]] std::string range_text(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);
// "block b needs blocks b - 1 to b + 1", of the earlier node
[[nodiscard]] std::string relation_text(const trace::BlockRelation& relation);
[[nodiscard]] const char* access_name(trace::Access access);
[[nodiscard]] std::string hex_text(std::uint64_t value);
// "at 1.2 ms", relative to the first event of the trace; empty if `at` is 0.
[[nodiscard]] std::string trace_time_text(const model::Document& document, trace::Time at);
inline constexpr const char* kTraceTimeHint = "Relative to the start of the trace.";

}  // namespace reprise::viewer

// What every page of the inspector is made of: titles, sections that fold, fields, tiles of
// numbers, links and lists that stay cheap however long they are. Fits itself to the width of the
// window. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <imgui.h>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// What is inspected, and its name below that. `chip`: its colour elsewhere; 0: it has none.
void draw_title(const Theme& theme, const std::string& what, const std::string& name,
                ImU32 chip = 0);
// True if it is open: draw what is in it then. `note` stands at the right end.
[[nodiscard]] bool draw_section(const Theme& theme, const char* title,
                                const std::string& note = {});
// A line of soft text, wrapped.
void draw_note(const Theme& theme, const std::string& text);

// A label and its value, which is left out where it is empty. A click copies the value.
void draw_value(const Theme& theme, const char* label, const std::string& value,
                const char* explanation = "");
// The same for what is read letter by letter: addresses, names of kernels, hashes, numbers.
void draw_mono(const Theme& theme, const char* label, const std::string& value,
               const char* explanation = "");

struct Tile {
  const char* name = "";
  std::string value;
  const char* explanation = "";
};
// As many beside each other as there is room for.
void draw_tiles(const Theme& theme, std::span<const Tile> tiles);

struct LinkDesc {
  std::string text, note = {}, detail = {};  // note: at the right end; detail: below
  ImU32 chip = 0;
  bool is_selected = false;
  double part = 0;  // 0 to 1, of a bar below; 0: none
};
// A line to click. True if it was.
[[nodiscard]] bool draw_link(const Theme& theme, const LinkDesc& desc);
// A button in the text. True if it was clicked.
[[nodiscard]] bool draw_action(const Theme& theme, const char* text, const char* explanation = "");
// The next action stands beside the one before it, if there is room.
void next_action(const char* text);

// Links to nodes: a click selects, hovering lights up.
void draw_node_link(PanelContext& context, std::uint32_t node, const std::string& note = {},
                    const std::string& detail = {}, double part = 0);
void draw_buffer_link(PanelContext& context, std::uint32_t buffer, const std::string& note = {},
                      const std::string& detail = {});

enum class ListRow : std::uint8_t { OneLine, TwoLines };
// The first few of `count`, and all of them on demand. `each` draws a link.
void draw_list(const Theme& theme, const char* id, std::size_t count, ListRow row,
               const std::function<void(std::size_t)>& each);

// "[0, 4,096)"; "all of it" where that is the whole buffer.
[[nodiscard]] std::string range_text(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);
[[nodiscard]] const char* access_name(trace::Access access);
[[nodiscard]] std::string hex_text(std::uint64_t value);
// A moment, from the first one of the trace.
[[nodiscard]] std::string moment_text(const model::Document& document, trace::Time at);

}  // namespace reprise::viewer

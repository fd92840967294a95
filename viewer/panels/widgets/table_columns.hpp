// The columns of a table: names with an explanation each, numbers at the right, a sort by any. Rows
// are the caller's. Threads: the drawing thread's.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

enum class ColumnAlign { Left, Right };

struct TableColumn {
  const char *name, *explanation;
  float characters = 10;  // its width; columns at the left share what is left over
  ColumnAlign align = ColumnAlign::Left;
};

struct TableSort {
  int column = 0;
  bool is_descending = false;
  friend bool operator==(const TableSort&, const TableSort&) = default;
};

struct TableDesc {
  const char* id = "";
  std::span<const TableColumn> columns = {};
  TableSort sort = {};  // at first
  ImVec2 size{0, 0};    // as of a child window
};

// As ImGui::BeginTable, with its columns and the row of their names; end with ImGui::EndTable().
[[nodiscard]] bool begin_table(const Theme& theme, const TableDesc& desc);
// Between the two: what the user sorts by.
[[nodiscard]] TableSort sort_of(TableSort otherwise);
// The height of a row of the current table, as a clipper wants it.
[[nodiscard]] float row_height();
// Scrolls so that the row is in sight, in the middle if it was not.
void reveal_row(std::size_t row);

struct RowDesc {
  bool is_selected = false;  // the one that was chosen
  bool is_lit = false;       // belongs to it
};
struct RowInput {
  bool is_clicked = false, is_hovered = false;
};
// A row, with its cells to fill.
[[nodiscard]] RowInput begin_row(const Theme& theme, int id, const RowDesc& desc);
// Cells by their column, as it stands in TableDesc. Cut at their width, whole in a tooltip. Colour
// 0: theme.ink.
void draw_cell(const Theme& theme, int column, const std::string& text, ImU32 colour = 0);
void draw_number(const Theme& theme, int column, const std::string& text, ImU32 colour = 0);

}  // namespace reprise::viewer

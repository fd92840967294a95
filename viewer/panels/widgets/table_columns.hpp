// Tables with described, sortable columns and right-aligned numbers. The caller draws the rows.
// Threads: drawing thread only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

enum class ColumnAlign { Left, Right };

struct TableColumn {
  const char *name, *explanation;
  float characters = 10;  // width in characters; left-aligned columns share the remaining width
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
  TableSort sort = {};  // initial order
  ImVec2 size{0, 0};    // as for ImGui::BeginChild()
};

// Like ImGui::BeginTable(), with columns and a header row. If it returns true, end the table with
// ImGui::EndTable().
[[nodiscard]] bool begin_table(const Theme& theme, const TableDesc& desc);
// The sort order of the current table; `fallback` if it has none.
[[nodiscard]] TableSort sort_of(TableSort fallback);
// The row height of the current table, for ImGuiListClipper.
[[nodiscard]] float row_height();
// Centres the row unless it is visible.
void reveal_row(std::size_t row);

struct RowDesc {
  bool is_selected = false;
  bool is_lit = false;  // highlighted because it relates to the selection
};
struct RowInput {
  bool is_clicked = false, is_hovered = false;
};
// Starts a row. The caller then draws its cells.
[[nodiscard]] RowInput begin_row(const Theme& theme, int id, const RowDesc& desc);
// A cell in the column with this index in TableDesc::columns. A clipped text has a tooltip with the
// full text. Colour 0: theme.ink.
void draw_cell(const Theme& theme, int column, const std::string& text, ImU32 colour = 0);
void draw_number(const Theme& theme, int column, const std::string& text, ImU32 colour = 0);

}  // namespace reprise::viewer

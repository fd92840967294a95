// Tables with described columns, sortable, with right-aligned numbers. Each table describes its
// cells by a function, which both draws them and exports them as CSV. Threads: drawing thread only;
// csv_text() is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "panels/shared/theme.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

enum class ColumnAlign { Left, Right };
// Always: can't be hidden; the first column is always shown. OnDemand: initially hidden.
enum class ColumnShow { Default, Always, OnDemand };

struct TableColumn {
  const char *name, *explanation;
  float characters = 10;  // width in characters; left-aligned columns share the remaining width
  ColumnAlign align = ColumnAlign::Left;
  const char* unit = "";  // of TableCell::number: "ns", "bytes"
  ColumnShow show = ColumnShow::Default;
};

struct TableSort {
  int column = 0;
  bool is_descending = false;
  friend bool operator==(const TableSort&, const TableSort&) = default;
};

struct TableDesc {
  const char* id = "";
  std::span<const TableColumn> columns = {};
  TableSort sort = {};       // initial order
  ImVec2 size{0, 0};         // as for ImGui::BeginChild()
  std::uint64_t absent = 0;  // bit i: column i has no values, and is not shown
  int frozen = 0;            // number of first columns that stay visible
  std::uint64_t ascending =
      0;  // bit i: a first click on column i, of numbers, sorts the least first
};

// A cell, as it is drawn and as it is exported.
struct TableCell {
  std::string text = {};              // its first line is drawn
  const char* prefix = "";            // drawn before the text, but not exported
  ImU32 colour = 0;                   // of the text; 0: theme.ink
  std::optional<double> number = {};  // exported in place of the text, in TableColumn::unit
  ImU32 swatch = 0;                   // colour of a square before the text; 0: none
  double bar = 0;                     // length of a bar behind the text, a fraction of the width
  ImU32 bar_colour = 0;
  std::string note = {};  // tooltip
  bool is_mono = false;   // fixed-width font
};
// Cells whose text has a unit and whose number has none.
[[nodiscard]] TableCell time_cell(double nanoseconds, ImU32 colour = 0);
[[nodiscard]] TableCell bytes_cell(std::uint64_t bytes, ImU32 colour = 0);
[[nodiscard]] TableCell count_cell(std::uint64_t count, ImU32 colour = 0);
[[nodiscard]] TableCell percent_cell(double fraction, ImU32 colour = 0);

// The cells of a table, all rows in their shown order.
struct TableContents {
  const char* name = "";  // of an exported file: "edges"
  std::span<const TableColumn> columns = {};
  std::size_t rows = 0;
  std::function<TableCell(std::size_t row, std::size_t column)> cell = {};
  std::optional<std::size_t> selected = {};  // the row that Ctrl+C copies
};

// Like ImGui::BeginTable(), with columns, a header row and a menu. If it returns true, end the
// table with end_table().
[[nodiscard]] bool begin_table(const Theme& theme, ViewState& view, const TableDesc& desc);
// The export in ImGui's own menu of the current table. Follows ImGui::BeginTable().
void draw_table_menu(ViewState& view);
// Draws the header row of the current table, with an explanation of each column.
void draw_header_row(const Theme& theme, std::span<const TableColumn> columns, float height);
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
// Starts a row. The caller then draws its cells. Menus of the row follow this call.
[[nodiscard]] RowInput begin_row(const Theme& theme, int id, const RowDesc& desc);
// Draws the visible cells of a row. A clipped text has a tooltip with the full text.
void draw_cells(const Theme& theme, const TableContents& contents, std::size_t row);
void draw_cell(const Theme& theme, const TableCell& cell, ColumnAlign align);

// Ends a table and performs its export. A right click on the header or on a row without a menu
// opens the menu of the table. While the table has the focus, Ctrl+C copies the selected row and
// Ctrl+Shift+C all rows as CSV.
void end_table(ViewState& view, const TableContents& contents);
// The items "Copy as CSV" and "Save as CSV...", for a menu inside a table; end_table() performs
// them. With `row`, an item that copies this row as well.
void draw_csv_items(ViewState& view, std::optional<std::size_t> row = {});

// RFC 4180: a header with the units, then all rows or one; columns are indices into
// TableContents::columns. Texts that a spreadsheet would execute are neutralised.
[[nodiscard]] std::string csv_text(const TableContents& contents,
                                   std::span<const std::size_t> columns,
                                   std::optional<std::size_t> row = {});

}  // namespace reprise::viewer

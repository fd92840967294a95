#include "panels/widgets/table_columns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <imgui_internal.h>

#include "base/csv.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Shortest text that reads back as the same number; integers without exponent.
std::string exported_number(double number) {
  if (!std::isfinite(number)) return {};
  char text[32];
  constexpr double kExact = 9007199254740992;  // 2^53
  const bool is_integer = std::abs(number) < kExact && number == std::trunc(number);
  const auto end = is_integer
                       ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number))
                       : std::to_chars(text, text + sizeof text, number);
  return {text, end.ptr};
}

// The visible columns of the current table, in their shown order.
std::vector<std::size_t> shown_columns() {
  const ImGuiTable& table = *ImGui::GetCurrentTable();
  std::vector<std::size_t> columns;
  for (int at = 0; at < table.ColumnsCount; ++at) {
    const int column = table.DisplayOrderToIndex[at];
    if (table.Columns[column].IsEnabled) columns.push_back(static_cast<std::size_t>(column));
  }
  return columns;
}

void handle_keys(ViewState& view, const TableContents& contents) {
  const ImGuiIO& io = ImGui::GetIO();
  const int key = ImGui::GetKeyIndex(ImGuiKey_C);
  if (!io.KeyCtrl || io.WantTextInput || key < 0 || !ImGui::IsWindowFocused() ||
      !ImGui::IsKeyPressed(key, false))
    return;
  if (io.KeyShift) {
    view.table_export = TableExport{};
  } else if (contents.selected) {
    view.table_export = TableExport{.row = contents.selected};
  }
}

}  // namespace

bool begin_table(const Theme& theme, ViewState& view, const TableDesc& desc) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable |
                                     ImGuiTableFlags_Hideable | ImGuiTableFlags_Sortable |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollX |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerV;
  const float character = ImGui::CalcTextSize("0").x;
  float min_width = 0;
  const auto is_absent = [&](std::size_t column) { return (desc.absent >> column & 1u) != 0; };
  for (std::size_t i = 0; i < desc.columns.size(); ++i) {
    if (!is_absent(i) && desc.columns[i].show != ColumnShow::OnDemand)
      min_width += desc.columns[i].characters * character + 2 * ImGui::GetStyle().CellPadding.x + 1;
  }
  const float available =
      (desc.size.x > 0 ? desc.size.x : ImGui::GetContentRegionAvail().x + desc.size.x) -
      ImGui::GetStyle().ScrollbarSize;
  if (!ImGui::BeginTable(desc.id, static_cast<int>(desc.columns.size()), kFlags, desc.size,
                         std::max(min_width, available)))
    return false;
  draw_table_menu(view);
  ImGui::TableSetupScrollFreeze(desc.frozen, 1);
  for (std::size_t i = 0; i < desc.columns.size(); ++i) {
    const TableColumn& column = desc.columns[i];
    ImGuiTableColumnFlags flags =
        column.align == ColumnAlign::Right
            ? ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_PreferSortDescending
            : ImGuiTableColumnFlags_WidthStretch;
    if ((desc.ascending >> i & 1u) != 0) flags &= ~ImGuiTableColumnFlags_PreferSortDescending;
    if (static_cast<int>(i) < desc.frozen) flags |= ImGuiTableColumnFlags_NoReorder;
    if (i == 0 || column.show == ColumnShow::Always) flags |= ImGuiTableColumnFlags_NoHide;
    if (column.show == ColumnShow::OnDemand) flags |= ImGuiTableColumnFlags_DefaultHide;
    if (is_absent(i)) flags |= ImGuiTableColumnFlags_Disabled;
    if (static_cast<int>(i) == desc.sort.column) {
      flags |= ImGuiTableColumnFlags_DefaultSort;
      flags &= ~ImGuiTableColumnFlags_PreferSortDescending;
      flags |= desc.sort.is_descending ? ImGuiTableColumnFlags_PreferSortDescending : 0;
    }
    const float width = column.characters * character;
    ImGui::TableSetupColumn(column.name, flags,
                            column.align == ColumnAlign::Right ? width : column.characters,
                            static_cast<ImGuiID>(i));
  }
  draw_header_row(theme, desc.columns, row_height());
  return true;
}

// ImGui adds its items (hidden columns, their widths) when it lays the table out.
void draw_table_menu(ViewState& view) {
  const ImGuiTable& table = *ImGui::GetCurrentTable();
  if (!table.IsContextPopupOpen || table.InstanceCurrent != table.InstanceInteracted) return;
  const ImGuiID id = ImHashStr("##ContextMenu", 0, table.ID);
  if (!ImGui::BeginPopupEx(id, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoTitleBar |
                                   ImGuiWindowFlags_NoSavedSettings))
    return;
  draw_csv_items(view);
  ImGui::Separator();
  ImGui::EndPopup();
}

void draw_header_row(const Theme& theme, std::span<const TableColumn> columns, float height) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, height);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const TableColumn& column = columns[i];
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, text = ImGui::CalcTextSize(column.name).x;
    ImGui::TableHeader("##header");
    tooltip(column.explanation);
    const bool is_sorted = (ImGui::TableGetColumnFlags() & ImGuiTableColumnFlags_IsSorted) != 0;
    const float arrow = is_sorted ? ImGui::GetFontSize() : 0;  // at the right end
    const float x = column.align == ColumnAlign::Right ? std::max(0.0f, width - text - arrow) : 0;
    ImGui::GetWindowDrawList()->AddText({std::floor(at.x + x), at.y},
                                        is_sorted ? theme.ink : theme.ink_soft, column.name);
    ImGui::PopID();
  }
}

TableSort sort_of(TableSort fallback) {
  const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (!specs || specs->SpecsCount == 0) return fallback;
  return {static_cast<int>(specs->Specs[0].ColumnUserID),
          specs->Specs[0].SortDirection == ImGuiSortDirection_Descending};
}

float row_height() {
  return std::round(ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
}

void reveal_row(std::size_t row) {
  const float height = row_height(), top = static_cast<float>(row) * height,
              view = ImGui::GetWindowHeight() - height, scroll = ImGui::GetScrollY();
  if (top >= scroll && top + height <= scroll + view) return;
  ImGui::SetScrollY(std::max(0.0f, top - (view - height) / 2));
}

RowInput begin_row(const Theme& theme, int id, const RowDesc& desc) {
  ImGui::TableNextRow(ImGuiTableRowFlags_None, row_height());
  if (desc.is_lit)
    ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, with_alpha(theme.accent_soft, 0.45f));
  ImGui::TableSetColumnIndex(0);
  ImGui::PushID(id);
  const bool clicked =
      ImGui::Selectable("##row", desc.is_selected,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap,
                        {0, ImGui::GetTextLineHeight()});
  const bool hovered = ImGui::IsItemHovered();
  ImGui::PopID();
  ImGui::SameLine(0, 0);
  return {clicked, hovered};
}

TableCell time_cell(double nanoseconds, ImU32 colour) {
  return {.text = duration_text(nanoseconds), .colour = colour, .number = nanoseconds};
}
TableCell bytes_cell(std::uint64_t bytes, ImU32 colour) {
  return {.text = bytes_text(bytes), .colour = colour, .number = static_cast<double>(bytes)};
}
TableCell count_cell(std::uint64_t count, ImU32 colour) {
  return {.text = count_text(count), .colour = colour, .number = static_cast<double>(count)};
}
TableCell percent_cell(double fraction, ImU32 colour) {
  return {.text = percent_text(fraction), .colour = colour, .number = fraction};
}

void draw_cells(const Theme& theme, const TableContents& contents, std::size_t row) {
  for (std::size_t column = 0; column < contents.columns.size(); ++column) {
    if (ImGui::TableSetColumnIndex(static_cast<int>(column)))
      draw_cell(theme, contents.cell(row, column), contents.columns[column].align);
  }
}

void draw_cell(const Theme& theme, const TableCell& cell, ColumnAlign align) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight();
  if (cell.bar > 0) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x,
                length = std::max(1.0f, width * static_cast<float>(std::min(cell.bar, 1.0)));
    draw.AddRectFilled({at.x + width - length, at.y}, {at.x + width, at.y + line},
                       with_alpha(cell.bar_colour, 0.28f), theme.radius / 2);
  }
  if (cell.swatch != 0) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float size = std::round(line * 0.62f), top = std::round(at.y + (line - size) / 2);
    draw.AddRectFilled({at.x, top}, {at.x + size, top + size}, cell.swatch, 2 * theme.scale);
    ImGui::SetCursorScreenPos({at.x + size + theme.half_space * 1.5f, at.y});
  }
  const std::size_t first_line = std::min(cell.text.find('\n'), cell.text.size());
  const std::string text = cell.prefix + cell.text.substr(0, first_line);
  if (text.empty()) return;
  const ImU32 colour = cell.colour != 0 ? cell.colour : theme.ink;
  if (cell.is_mono) ImGui::PushFont(theme.mono);
  bool is_clipped = false;
  if (align == ColumnAlign::Right) {
    text_right(text, colour);
  } else {
    is_clipped = text_ellipsis(text, colour) || first_line != cell.text.size();
  }
  if (cell.is_mono) ImGui::PopFont();
  if (!cell.note.empty()) {
    tooltip(cell.note);
  } else if (is_clipped) {
    tooltip(cell.text);
  }
}

void end_table(ViewState& view, const TableContents& contents) {
  const ImGuiTable& table = *ImGui::GetCurrentTable();
  if (ImGui::IsMouseReleased(1) && table.HoveredColumnBody != -1 &&
      !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup))
    ImGui::TableOpenContextMenu(table.HoveredColumnBody);
  handle_keys(view, contents);
  if (const auto request = std::exchange(view.table_export, std::nullopt)) {
    std::string text = csv_text(contents, shown_columns(), request->row);
    if (request->to == TableExport::To::Clipboard) {
      ImGui::SetClipboardText(text.c_str());
    } else {
      view.save = FileToSave{std::string(contents.name) + ".csv", std::move(text)};
    }
  }
  ImGui::EndTable();
}

void draw_csv_items(ViewState& view, std::optional<std::size_t> row) {
  if (row && ImGui::MenuItem("Copy row as CSV")) view.table_export = TableExport{.row = row};
  if (ImGui::MenuItem("Copy as CSV", "Ctrl+Shift+C")) view.table_export = TableExport{};
  if (ImGui::MenuItem("Save as CSV...")) view.table_export = TableExport{TableExport::To::File, {}};
}

std::string csv_text(const TableContents& contents, std::span<const std::size_t> columns,
                     std::optional<std::size_t> row) {
  std::string text;
  const auto line = [&](const auto& field) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += (i == 0 ? "" : ",") + field(columns[i]);
    text += "\r\n";
  };
  line([&](std::size_t column) {
    const TableColumn& c = contents.columns[column];
    return detail::csv_field(*c.unit == 0 ? std::string(c.name)
                                          : std::string(c.name) + " (" + c.unit + ")");
  });
  const std::size_t first = row.value_or(0), end = row ? *row + 1 : contents.rows;
  for (std::size_t r = first; r < end; ++r) {
    line([&](std::size_t column) {
      const TableCell cell = contents.cell(r, column);
      return cell.number ? exported_number(*cell.number) : detail::csv_field(cell.text);
    });
  }
  return text;
}

}  // namespace reprise::viewer

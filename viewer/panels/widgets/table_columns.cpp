#include "panels/widgets/table_columns.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

bool begin_table(const Theme& theme, const TableDesc& desc) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable |
                                     ImGuiTableFlags_Hideable | ImGuiTableFlags_Sortable |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollX |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerV;
  const float character = ImGui::CalcTextSize("0").x;
  float min_width = 0;
  for (const TableColumn& column : desc.columns)
    min_width += column.characters * character + 2 * ImGui::GetStyle().CellPadding.x + 1;
  const float available =
      (desc.size.x > 0 ? desc.size.x : ImGui::GetContentRegionAvail().x + desc.size.x) -
      ImGui::GetStyle().ScrollbarSize;
  if (!ImGui::BeginTable(desc.id, static_cast<int>(desc.columns.size()), kFlags, desc.size,
                         std::max(min_width, available)))
    return false;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (std::size_t i = 0; i < desc.columns.size(); ++i) {
    const TableColumn& column = desc.columns[i];
    ImGuiTableColumnFlags flags =
        column.align == ColumnAlign::Right
            ? ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_PreferSortDescending
            : ImGuiTableColumnFlags_WidthStretch;
    if (i == 0) flags |= ImGuiTableColumnFlags_NoHide;
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
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, row_height());
  for (std::size_t i = 0; i < desc.columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const TableColumn& column = desc.columns[i];
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
  return true;
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

void draw_cell(const Theme& theme, int column, const std::string& text, ImU32 colour) {
  if (!ImGui::TableSetColumnIndex(column)) return;
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushStyleColor(ImGuiCol_Text, colour != 0 ? colour : theme.ink);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  if (ImGui::GetItemRectSize().x > width) tooltip(text);
}

void draw_number(const Theme& theme, int column, const std::string& text, ImU32 colour) {
  if (ImGui::TableSetColumnIndex(column)) text_right(text, colour != 0 ? colour : theme.ink);
}

}  // namespace reprise::viewer

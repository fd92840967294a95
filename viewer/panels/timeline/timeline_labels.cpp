#include "panels/timeline/timeline_labels.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

// Shortens a name to the available width.
std::string fit_text(const ImFont* font, const std::string& text, float available) {
  const float width = font->CalcTextSizeA(font->FontSize, 1e9f, 0, text.c_str()).x;
  if (width <= available) return text;
  return shortened(text, static_cast<std::size_t>(std::max(
                             static_cast<float>(text.size()) * available / width - 1, 4.0f)));
}

}  // namespace

void draw_timeline_labels(const Theme& theme, const TimelineLayout& layout, float top, ImVec2 min,
                          ImVec2 max) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImFont* const font = theme.small;
  const float size = font->FontSize;
  list.PushClipRect(min, max, true);
  for (const TimelineRow& row : layout.rows) {
    const float y = top + row.top;
    if (y + row.height < min.y || y > max.y) continue;
    const float text_y = std::floor(y + (row.height - size) / 2);
    if (row.kind == TimelineRow::Kind::Title) {
      const float below = y + row.height - 2;
      list.AddText(font, size, {min.x + theme.half_space, text_y}, theme.ink_faint,
                   row.label.c_str());
      list.AddLine({min.x, below}, {max.x, below}, theme.line);
      continue;
    }
    if (row.label.empty()) continue;
    const std::string text = fit_text(font, row.label, max.x - min.x - 3 * theme.space);
    const float width = font->CalcTextSizeA(size, 1e9f, 0, text.c_str()).x;
    if (row.has_name_click()) {
      const float mark = 4 * theme.scale, x = min.x + theme.half_space + mark,
                  middle = y + row.height / 2;
      if (row.is_open) {
        list.AddTriangleFilled({x - mark, middle - mark / 2}, {x + mark, middle - mark / 2},
                               {x, middle + mark / 2}, theme.ink_soft);
      } else {
        list.AddTriangleFilled({x - mark / 2, middle - mark}, {x + mark / 2, middle},
                               {x - mark / 2, middle + mark}, theme.ink_soft);
      }
    }
    list.AddText(font, size, {max.x - theme.space - width, text_y}, theme.ink, text.c_str());
  }
  list.PopClipRect();
}

void handle_timeline_names(const TimelineLayout& layout, float top, ImVec2 min, ImVec2 max,
                           TimelineOpened& opened) {
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(min, max)) return;
  const float y = ImGui::GetIO().MousePos.y - top;
  const bool is_clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const auto is_hovered = [&](const TimelineRow& row) {
    return row.has_name_click() && y >= row.top && y < row.top + row.height;
  };
  const auto found = std::find_if(layout.rows.begin(), layout.rows.end(), is_hovered);
  if (found == layout.rows.end()) return;
  const TimelineRow& row = *found;
  const char* const verb = row.is_open ? "hide" : "show";
  switch (row.kind) {
    case TimelineRow::Kind::Rank:
      ImGui::SetTooltip("%s\nClick to %s its threads, queues and graphs", row.detail.c_str(), verb);
      if (is_clicked && opened.ranks.erase(row.id) == 0) opened.ranks.insert(row.id);
      break;
    case TimelineRow::Kind::Folded:
      ImGui::SetTooltip("Click to %s the other ranks", verb);
      if (is_clicked) opened.folded = !row.is_open;
      break;
    default:
      ImGui::SetTooltip("%s\nClick to %s its nodes", row.label.c_str(), verb);
      if (is_clicked) opened.graphs[row.graph] = !row.is_open;
  }
}

float draw_timeline_scrollbar(const Theme& theme, float scroll, float height, float visible_height,
                              ImVec2 at) {
  const float max_scroll = std::max(height - visible_height, 0.0f);
  if (max_scroll <= 0) return 0;
  const float width = 9 * theme.scale,
              thumb = std::max(visible_height * visible_height / height, 24 * theme.scale),
              travel = std::max(visible_height - thumb, 1.0f);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("rows", {width, std::max(visible_height, 1.0f)});
  if (ImGui::IsItemActive()) scroll += ImGui::GetIO().MouseDelta.y * max_scroll / travel;
  if (ImGui::IsItemHovered()) scroll -= ImGui::GetIO().MouseWheel * 40 * theme.scale;
  scroll = std::clamp(scroll, 0.0f, max_scroll);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = at.y + scroll / max_scroll * travel;
  const ImU32 colour = ImGui::IsItemActive()    ? theme.accent
                       : ImGui::IsItemHovered() ? theme.ink_soft
                                                : theme.ink_faint;
  list.AddRectFilled({at.x + 2, top}, {at.x + width - 1, top + thumb}, colour, width / 2);
  return scroll;
}

}  // namespace reprise::viewer

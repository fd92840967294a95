#include "panels/widgets/tabs.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/icons.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

struct TabParts {
  float name = 0, badge = 0, width = 0;
};

TabParts measure(const Theme& theme, const Tab& tab) {
  TabParts parts;
  parts.name = ImGui::CalcTextSize(tab.name.c_str()).x;
  parts.width = std::round(parts.name + 2.5f * theme.space);
  if (tab.badge.empty()) return parts;
  ImGui::PushFont(theme.small);
  parts.badge = std::round(ImGui::CalcTextSize(tab.badge.c_str()).x + theme.space * 1.25f);
  ImGui::PopFont();
  parts.width += parts.badge + theme.half_space;
  return parts;
}

// The tabs as a menu, beside a row that has no room for all.
std::size_t draw_menu(const Theme& theme, const char* id, std::span<const Tab> tabs,
                      std::size_t chosen) {
  ImGui::SameLine(0, theme.half_space);
  ImGui::PushID(id);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() +
                       std::round((tab_height(theme) - ImGui::GetFrameHeight()) / 2));
  if (icon_button(theme, "all tabs", Icon::More, "All tabs")) ImGui::OpenPopup("tab menu");
  if (ImGui::BeginPopup("tab menu")) {
    for (std::size_t i = 0; i < tabs.size(); ++i) {
      const std::string name =
          tabs[i].badge.empty() ? tabs[i].name : tabs[i].name + " (" + tabs[i].badge + ")";
      if (ImGui::MenuItem(name.c_str(), nullptr, i == chosen)) chosen = i;
    }
    ImGui::EndPopup();
  }
  ImGui::PopID();
  return chosen;
}

}  // namespace

float tab_height(const Theme& theme) { return std::round(30 * theme.scale); }

TabChoice draw_tabs(const Theme& theme, const char* id, std::span<const Tab> tabs,
                    std::size_t chosen, float width) {
  const float height = tab_height(theme);
  float full_width = 0;
  for (const Tab& tab : tabs) full_width += measure(theme, tab).width;
  const bool has_menu = full_width > width;
  const float menu = has_menu ? ImGui::GetFrameHeight() + theme.half_space : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::BeginChild(id, {std::max(width - menu, 1.0f), height}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (ImGui::IsWindowHovered())
    ImGui::SetScrollX(ImGui::GetScrollX() - ImGui::GetIO().MouseWheel * 40 * theme.scale);
  TabChoice result{chosen};
  int& shown = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("shown"), -1);
  const bool is_new = shown != static_cast<int>(chosen);
  shown = static_cast<int>(chosen);
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    const Tab& tab = tabs[i];
    const TabParts parts = measure(theme, tab);
    if (i > 0) ImGui::SameLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton(tab.name.c_str(), {parts.width, height})) result.chosen = i;
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && ImGui::IsMouseDoubleClicked(0)) result = {i, true};
    const bool is_chosen = i == chosen;
    if (hovered && !is_chosen) {
      draw.AddRectFilled({at.x + 2, at.y + theme.half_space},
                         {at.x + parts.width - 2, at.y + height - theme.half_space}, theme.hovered,
                         theme.radius);
    }
    const float line = ImGui::GetTextLineHeight();
    const float x = std::round(at.x + 1.25f * theme.space),
                y = std::round(at.y + (height - line) / 2);
    draw.AddText({x, y}, is_chosen || hovered ? theme.ink : theme.ink_soft, tab.name.c_str());
    if (!tab.badge.empty()) {
      const float small = font_size(theme.small), left = x + parts.name + theme.half_space * 1.5f;
      const float top = std::round(at.y + (height - small) / 2 - 1);
      draw.AddRectFilled({left, top}, {left + parts.badge, top + small + 2}, tab.badge_colour,
                         (small + 2) / 2);
      draw.AddText(theme.small, small, {left + theme.space * 0.625f, top + 1},
                   ink_on(tab.badge_colour), tab.badge.c_str());
    }
    if (is_chosen) {
      draw.AddRectFilled({at.x + theme.space, at.y + height - 2 * theme.scale},
                         {at.x + parts.width - theme.space, at.y + height}, theme.accent, 1);
      if (is_new) ImGui::SetScrollHereX();
    }
    tooltip(tab.hint);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
  if (has_menu) result.chosen = draw_menu(theme, id, tabs, result.chosen);
  return result;
}

}  // namespace reprise::viewer

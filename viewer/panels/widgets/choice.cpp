#include "panels/widgets/choice.hpp"

#include <cmath>

#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

ImVec2 button_size(const std::string& text, float extra) {
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  return {std::ceil(ImGui::CalcTextSize(text.c_str()).x + 2 * padding.x + extra),
          ImGui::GetFrameHeight()};
}

}  // namespace

int draw_choice(const Theme& theme, const char* id, std::span<const ChoiceItem> items, int chosen) {
  ImGui::PushID(id);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float padding = ImGui::GetStyle().FramePadding.x;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  float width = 0;
  for (const ChoiceItem& item : items) width += button_size(item.text, 0).x;
  list->AddRectFilled(start, {start.x + width, start.y + ImGui::GetFrameHeight()}, theme.raised,
                      theme.radius);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) ImGui::SameLine(0, 0);
    const bool is_on = static_cast<int>(i) == chosen;
    const ImVec2 at = ImGui::GetCursorScreenPos(), size = button_size(items[i].text, 0);
    ImGui::PushID(static_cast<int>(i));
    const bool clicked = ImGui::InvisibleButton("choice", size);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (clicked && items[i].is_enabled) chosen = static_cast<int>(i);
    if (is_on || (hovered && items[i].is_enabled)) {
      list->AddRectFilled(at, {at.x + size.x, at.y + size.y},
                          is_on ? theme.accent_soft : theme.hovered, theme.radius);
    }
    const ImU32 ink = !items[i].is_enabled ? theme.ink_faint : is_on ? theme.ink : theme.ink_soft;
    list->AddText({at.x + padding, at.y + (size.y - ImGui::GetTextLineHeight()) / 2}, ink,
                  items[i].text.c_str());
    tooltip(items[i].explanation);
  }
  list->AddRect(start, {start.x + width, start.y + ImGui::GetFrameHeight()}, theme.line,
                theme.radius);
  ImGui::PopID();
  return chosen;
}

bool draw_toggle(const Theme& theme, const char* id, const ToggleDesc& desc) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  const float swatch = desc.colour != 0 ? std::round(ImGui::GetTextLineHeight() * 0.7f) : 0,
              gap = desc.colour != 0 ? theme.half_space * 1.5f : 0;
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = button_size(desc.text, swatch + gap);
  ImGui::PushID(id);
  const bool clicked = ImGui::InvisibleButton("toggle", size);
  const bool hovered = ImGui::IsItemHovered();
  ImGui::PopID();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  if (desc.is_on || hovered)
    list->AddRectFilled(at, end, hovered ? theme.hovered : theme.raised, theme.radius);
  list->AddRect(at, end, theme.line, theme.radius);
  if (desc.colour != 0) {
    const ImVec2 low{at.x + padding.x, at.y + (size.y - swatch) / 2},
        high{low.x + swatch, low.y + swatch};
    if (desc.is_on) list->AddRectFilled(low, high, desc.colour, 2 * theme.scale);
    list->AddRect(low, high, desc.is_on ? theme.line : theme.ink_faint, 2 * theme.scale);
  }
  list->AddText({at.x + padding.x + swatch + gap, at.y + (size.y - ImGui::GetTextLineHeight()) / 2},
                desc.is_on ? theme.ink : theme.ink_faint, desc.text.c_str());
  tooltip(desc.explanation);
  return clicked;
}

}  // namespace reprise::viewer

#include "panels/widgets/splitter.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

SplitterMove draw_splitter(const Theme& theme, const char* id, SplitterAxis axis, ImVec2 min,
                           ImVec2 max) {
  ImGui::SetCursorScreenPos(min);
  ImGui::InvisibleButton(id, {std::max(1.0f, max.x - min.x), std::max(1.0f, max.y - min.y)});
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  SplitterMove move;
  move.is_held = held;
  if (hovered || held) {
    ImGui::SetMouseCursor(axis == SplitterAxis::Upright ? ImGuiMouseCursor_ResizeEW
                                                        : ImGuiMouseCursor_ResizeNS);
    ImGui::GetWindowDrawList()->AddRectFilled(min, max,
                                              held ? theme.accent : with_alpha(theme.accent, 0.6f));
  } else {  // a grip
    const ImVec2 c{std::round((min.x + max.x) / 2), std::round((min.y + max.y) / 2)};
    const float half = 14 * theme.scale, thin = std::max(1.0f, std::round(theme.scale));
    const ImVec2 extent =
        axis == SplitterAxis::Upright ? ImVec2{thin / 2, half} : ImVec2{half, thin / 2};
    ImGui::GetWindowDrawList()->AddRectFilled(
        {c.x - extent.x, c.y - extent.y}, {c.x + extent.x, c.y + extent.y}, theme.ink_faint, thin);
  }
  if (held)
    move.by =
        axis == SplitterAxis::Upright ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
  move.reset = hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  return move;
}

}  // namespace reprise::viewer

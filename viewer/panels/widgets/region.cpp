#include "panels/widgets/region.hpp"

#include <algorithm>

namespace reprise::viewer {

void begin_region(const Theme& theme, const char* id, ImVec2 min, ImVec2 max, Scrolls scrolls) {
  ImGui::SetCursorScreenPos(min);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
  const ImGuiWindowFlags fixed = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::BeginChild(id, {std::max(1.0f, max.x - min.x), std::max(1.0f, max.y - min.y)}, false,
                    ImGuiWindowFlags_AlwaysUseWindowPadding | (scrolls == Scrolls::No ? fixed : 0));
  ImGui::PopStyleColor();
}

void begin_bar(const Theme& theme, const char* id, ImVec2 min, ImVec2 max) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme.half_space, 0});
  begin_region(theme, id, min, max, Scrolls::No);
  ImGui::PopStyleVar();
}

}  // namespace reprise::viewer

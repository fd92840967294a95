#include "panels/workspace/help_overlay.hpp"

#include <algorithm>
#include <cmath>

#include "panels/shared/keys.hpp"

namespace reprise::viewer {

void HelpOverlay::draw(const Theme& theme) {
  if (!open_) {
    was_open_ = false;
    return;
  }
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, with_alpha(theme.background, 0.72f));
  ImGui::Begin(
      "##help shade", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleColor();
  const float width = std::min(viewport.Size.x - 2 * theme.space, 640 * theme.scale);
  const float full_height = (static_cast<float>(key_help().size()) * 21 + 74) * theme.scale;
  const float height = std::min(viewport.Size.y - 2 * theme.space, full_height);
  ImGui::SetCursorPos(
      {std::round((viewport.Size.x - width) / 2), std::round((viewport.Size.y - height) / 2)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Border, theme.line);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, theme.radius * 2);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {3 * theme.space, 2 * theme.space});
  ImGui::BeginChild("keys", {width, height}, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(2);
  ImGui::PushFont(theme.heading);
  ImGui::TextUnformatted("Keyboard and mouse");
  ImGui::PopFont();
  ImGui::Dummy({0, theme.half_space});
  if (ImGui::BeginTable("table", 2,
                        ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_PadOuterX |
                            ImGuiTableFlags_BordersInnerH)) {
    ImGui::TableSetupColumn("keys");
    ImGui::TableSetupColumn("description", ImGuiTableColumnFlags_WidthStretch);
    for (const KeyHelp& help : key_help()) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushStyleColor(ImGuiCol_Text, theme.accent);
      ImGui::TextUnformatted(help.keys.c_str());
      ImGui::PopStyleColor();
      ImGui::TableNextColumn();
      ImGui::TextWrapped("%s", help.description.c_str());
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  ImGui::End();
  if (was_open_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
      ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 25)
    open_ = false;
  was_open_ = open_;
}

}  // namespace reprise::viewer

#include "panels/workspace/open_dialog.hpp"

#include <algorithm>
#include <variant>

#include <imgui.h>

#include "panels/shared/keys.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr char kOpenTitle[] = "Open a trace";
constexpr float kOpenWidth = 620, kRecentHeight = 300;  // points

}  // namespace

StartAction OpenDialog::draw(const Theme& theme, std::span<const std::string> recent) {
  const bool appears = is_requested_;
  if (is_requested_) ImGui::OpenPopup(kOpenTitle);
  is_requested_ = false;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float margin = 2 * theme.space;
  ImGui::SetNextWindowPos(
      {viewport.Pos.x + viewport.Size.x / 2, viewport.Pos.y + viewport.Size.y * 0.4f}, 0,
      {0.5f, 0.4f});
  ImGui::SetNextWindowSize({std::min(kOpenWidth * theme.scale, viewport.Size.x - margin), 0});
  ImGui::PushFont(theme.text);
  StartAction action;
  if (ImGui::BeginPopupModal(kOpenTitle, nullptr,
                             ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_NoSavedSettings)) {
    if (appears) ImGui::SetKeyboardFocusHere();
    action = draw_contents(theme, recent);
    if (!std::holds_alternative<std::monostate>(action)) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  }
  ImGui::PopFont();
  return action;
}

StartAction OpenDialog::draw_contents(const Theme& theme, std::span<const std::string> recent) {
  StartAction action;
  ImGui::SetNextItemWidth(-1);
  const bool entered =
      ImGui::InputTextWithHint("##address", "Trace file, session socket or host:port", address_,
                               sizeof address_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##token", "token for host:port", token_, sizeof token_,
                           ImGuiInputTextFlags_Password);
  const bool has_address = address_[0] != '\0';
  ImGui::BeginDisabled(!has_address);
  if ((ImGui::Button("Open") || entered) && has_address) action = OpenTarget{address_, token_};
  ImGui::SameLine();
  if (ImGui::Button("Compare with the shown trace"))
    action = CompareTarget{.first = {}, .second = {address_, token_}};
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (ImGui::Button("Cancel") || is_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  if (recent.empty()) return action;
  ImGui::Dummy({0, theme.half_space});
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted("Recent traces");
  ImGui::PopStyleColor();
  const float row = ImGui::GetFrameHeightWithSpacing(),
              height = std::min({kRecentHeight * theme.scale, row * static_cast<float>(recent.size()),
                                 ImGui::GetMainViewport()->Size.y * 0.4f});
  ImGui::BeginChild("recent", {0, height});
  const char* const compare = "Compare";
  const float button = ImGui::CalcTextSize(compare).x + 2 * ImGui::GetStyle().FramePadding.x;
  for (const std::string& path : recent) {
    ImGui::PushID(path.c_str());
    ImGui::AlignTextToFramePadding();
    const float width = ImGui::GetContentRegionAvail().x - button - theme.space;
    if (ImGui::Selectable(file_name(path).c_str(), false, 0, {width, 0}))
      action = OpenTarget{path, {}};
    tooltip(path);
    ImGui::SameLine(ImGui::GetContentRegionMax().x - button);
    if (ImGui::Button(compare)) action = CompareTarget{.first = {}, .second = {path, {}}};
    tooltip("Compare with the shown trace");
    ImGui::PopID();
  }
  ImGui::EndChild();
  return action;
}

}  // namespace reprise::viewer

#include "panels/workspace/open_dialog.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "panels/shared/keys.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr char kOpenTitle[] = "Open a trace";
constexpr float kOpenWidth = 620, kListHeight = 300;  // points

}  // namespace

StartAction OpenDialog::draw(const Theme& theme, std::span<const std::string> recent) {
  const bool appears = is_requested_;
  if (is_requested_) {
    ImGui::OpenPopup(kOpenTitle);
    const bool shows_recent = from_ == OpenedFrom::Trace && !recent.empty();
    list_ = shows_recent ? List::Recent : List::Files;  // the start page lists the recent files
  }
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
      ImGui::InputTextWithHint("##address", "Trace file, session socket or host:port", &address_,
                               ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##token", "token for host:port", &token_, ImGuiInputTextFlags_Password);
  ImGui::BeginDisabled(address_.empty());
  if ((ImGui::Button("Open") || entered) && !address_.empty())
    action = OpenTarget{address_, token_};
  if (from_ == OpenedFrom::Trace) {
    ImGui::SameLine();
    if (ImGui::Button("Compare with the shown trace"))
      action = CompareTarget{.first = {}, .second = {address_, token_}};
  }
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (ImGui::Button("Cancel") || is_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::Dummy({0, theme.half_space});
  const std::array<ChoiceItem, 2> lists{
      {{"Recent traces", "The traces that were opened last", !recent.empty()},
       {"Files", "Folders and trace files (*.reprise) of this machine"}}};
  list_ = static_cast<List>(draw_choice(theme, "list", lists, static_cast<int>(list_)));
  const float height = std::min(kListHeight * theme.scale, ImGui::GetMainViewport()->Size.y * 0.4f);
  StartAction of_list =
      list_ == List::Recent ? draw_recent(theme, recent, height) : draw_files(theme, height);
  return std::holds_alternative<std::monostate>(of_list) ? action : of_list;
}

StartAction OpenDialog::draw_files(const Theme& theme, float height) {
  const FileChosen file = browser_.draw(theme, height);
  if (!file.path.empty()) address_ = file.path;
  return file.is_opened ? StartAction(OpenTarget{file.path, {}}) : StartAction();
}

StartAction OpenDialog::draw_recent(const Theme& theme, std::span<const std::string> recent,
                                    float height) const {
  StartAction action;
  ImGui::BeginChild("recent", {0, height});
  const char* const compare = "Compare";
  const float button = from_ == OpenedFrom::Trace
                           ? ImGui::CalcTextSize(compare).x + 2 * ImGui::GetStyle().FramePadding.x
                           : 0;
  for (const std::string& path : recent) {
    ImGui::PushID(path.c_str());
    ImGui::AlignTextToFramePadding();
    const float width = ImGui::GetContentRegionAvail().x - button - theme.space;
    if (ImGui::Selectable(file_name(path).c_str(), false, 0, {width, 0}))
      action = OpenTarget{path, {}};
    tooltip(path);
    if (button > 0) {
      ImGui::SameLine(ImGui::GetContentRegionMax().x - button);
      if (ImGui::Button(compare)) action = CompareTarget{.first = {}, .second = {path, {}}};
      tooltip("Compare with the shown trace");
    }
    ImGui::PopID();
  }
  ImGui::EndChild();
  return action;
}

}  // namespace reprise::viewer

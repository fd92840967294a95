#include "panels/workspace/file_dialog.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <imgui.h>

#include "panels/shared/keys.hpp"

namespace reprise::viewer {

namespace {

constexpr float kDialogWidth = 560;  // points

}  // namespace

void FileDialog::open(FileDialogDesc desc) {
  is_open_ = true;
  appears_ = true;
  desc_ = std::move(desc);
}

FileChoice FileDialog::draw(const Theme& theme, const std::string& error) {
  if (*desc_.title == '\0') return FileChoice::None;  // never opened
  if (std::exchange(appears_, false)) ImGui::OpenPopup(desc_.title);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(
      {viewport.Pos.x + viewport.Size.x / 2, viewport.Pos.y + viewport.Size.y * 0.4f}, 0,
      {0.5f, 0.4f});
  ImGui::SetNextWindowSize(
      {std::min(kDialogWidth * theme.scale, viewport.Size.x - 2 * theme.space), 0});
  ImGui::PushFont(theme.text);
  FileChoice choice = FileChoice::None;
  if (ImGui::BeginPopupModal(
          desc_.title, nullptr,
          ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    choice = draw_contents(theme, error);
    if (choice == FileChoice::Discard || choice == FileChoice::Cancel) is_open_ = false;
    if (!is_open_) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  } else if (std::exchange(is_open_, false)) {
    choice = FileChoice::Cancel;  // closed by Esc
  }
  ImGui::PopFont();
  return choice;
}

FileChoice FileDialog::draw_file(const Theme& theme, const std::string& error) {
  char path[1024];
  std::snprintf(path, sizeof path, "%s", desc_.path.c_str());
  ImGui::SetNextItemWidth(-1);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextWithHint("##path", "FILE", path, sizeof path,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  desc_.path = path;
  ImGui::PushStyleColor(ImGuiCol_Text, error.empty() ? theme.ink_soft : theme.error);
  ImGui::TextWrapped("%s", error.empty() ? desc_.explanation : error.c_str());
  ImGui::PopStyleColor();
  ImGui::BeginDisabled(desc_.path.empty());
  const bool is_chosen = (ImGui::Button(desc_.action) || entered) && !desc_.path.empty();
  ImGui::EndDisabled();
  ImGui::SameLine();
  return is_chosen ? FileChoice::Write : FileChoice::None;
}

FileChoice FileDialog::draw_contents(const Theme& theme, const std::string& error) {
  if (!desc_.discarded.empty()) {
    ImGui::TextWrapped("%s", desc_.discarded.c_str());
    ImGui::Dummy({0, theme.half_space});
  }
  FileChoice choice = FileChoice::None;
  if (*desc_.action != '\0') choice = draw_file(theme, error);
  if (!desc_.discarded.empty()) {
    if (ImGui::Button(desc_.discard)) choice = FileChoice::Discard;
    ImGui::SameLine();
  }
  if (ImGui::Button("Cancel") || is_pressed(Key::Escape)) choice = FileChoice::Cancel;
  return choice;
}

}  // namespace reprise::viewer

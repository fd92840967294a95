#include "panels/widgets/toolbar.hpp"

#include "panels/widgets/icons.hpp"

namespace reprise::viewer {

bool Toolbar::place(float width) {
  if (is_full_) return is_in_menu_;
  ImGui::SameLine(0, theme_.space);
  const float button = ImGui::GetFrameHeight() + theme_.space;
  is_full_ = ImGui::GetContentRegionAvail().x < width + button;
  if (!is_full_) return true;
  ImGui::PushID(id_);
  if (icon_button(theme_, "more", Icon::More, "More controls")) ImGui::OpenPopup("controls");
  is_in_menu_ = ImGui::BeginPopup("controls");  // until end_menu()
  if (!is_in_menu_) ImGui::PopID();
  return is_in_menu_;
}

bool Toolbar::has_room(float width) {
  end_menu();
  if (is_full_) return false;
  ImGui::SameLine(0, theme_.space);
  return ImGui::GetContentRegionAvail().x >= width;
}

void Toolbar::end_menu() {
  if (!is_in_menu_) return;
  ImGui::EndPopup();
  ImGui::PopID();
  is_in_menu_ = false;
}

}  // namespace reprise::viewer

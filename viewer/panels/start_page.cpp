#include "panels/start_page.hpp"

#include <imgui.h>

#include "panels/widgets.hpp"

namespace reprise::viewer {

StartAction StartPage::draw(const Theme& theme, const StartFacts& facts) {
  StartAction action;
  for (const RecentFile& file : facts.recent) {
    if (ImGui::Selectable(file.path.c_str())) action = OpenTarget{file.path, {}};
  }
  ImGui::InputText("address", address_, sizeof address_);
  ImGui::InputText("token", token_, sizeof token_);
  if (ImGui::Button("Open")) action = OpenTarget{address_, token_};
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.error), "%s", facts.error.c_str());
  return action;
}

}  // namespace reprise::viewer

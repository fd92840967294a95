#include "panels/workspace/console.hpp"

#include <algorithm>

#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

void Console::draw(const Theme& theme, std::span<const std::string> lines, const std::string& end) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("Output");
  ImGui::SameLine();
  const std::string amount = count_text(lines.size()) + (lines.size() == 1 ? " line" : " lines");
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.ink_soft), "%s",
                     (end.empty() ? amount : amount + ", " + end).c_str());
  ImGui::SameLine(std::max(0.0f, ImGui::GetContentRegionMax().x - 2 * ImGui::GetFrameHeight()));
  if (icon_button(theme, "copy", Icon::Copy, "Copy the output",
                  lines.empty() ? IconState::Disabled : IconState::Normal)) {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    ImGui::SetClipboardText(all.c_str());
  }
  ImGui::SameLine(0, 0);
  if (icon_button(theme, "close", Icon::Cross, "Close")) is_open_ = false;
  ImGui::BeginChild("lines", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const bool is_at_end = ImGui::GetScrollY() >= ImGui::GetScrollMaxY();
  ImGui::PushFont(theme.mono);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(lines.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      ImGui::TextUnformatted(lines[static_cast<std::size_t>(i)].c_str());
  }
  ImGui::PopFont();
  if (is_at_end) ImGui::SetScrollHereY(1);
  ImGui::EndChild();
}

}  // namespace reprise::viewer

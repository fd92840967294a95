#include "panels/inspector/source_preview.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kAround = 4;  // lines before and after the call
constexpr std::size_t kShownFrames = 256;

// "layers.py:12", "libtorch.so+0x1234"
std::string location_text(const trace::GraphVersion& record, const trace::Frame& frame) {
  const std::string name = file_name(record.strings[frame.file]);
  if (frame.line != 0) return name + ":" + std::to_string(frame.line);
  return frame.offset == 0 ? name : name + "+" + hex_text(frame.offset);
}

}  // namespace

void SourcePreview::draw_stack(PanelContext& context, const model::SourceLocation& location,
                               std::uint32_t innermost) {
  const trace::GraphVersion& record = context.graph()->record();
  if (innermost >= record.frames.size()) return draw(context, location);
  std::vector<std::uint32_t> frames;
  for (std::uint32_t at = innermost; at != trace::kNone && frames.size() < kShownFrames;
       at = record.frames[at].caller)
    frames.push_back(at);
  if (shown_.graph != context.graph()->key() || shown_.innermost != innermost)
    shown_ = {context.graph()->key(), innermost, trace::kNone};
  if (draw_section(context.theme, "Call stack",
                   std::to_string(frames.size()) + (frames.size() == 1 ? " frame" : " frames"))) {
    for (const std::uint32_t at : frames) {
      const trace::Frame& frame = record.frames[at];
      const bool is_node =
          frame.line == location.line && record.strings[frame.file] == location.file;
      const bool is_shown = shown_.frame == trace::kNone ? is_node : shown_.frame == at;
      ImGui::PushID(static_cast<int>(at));
      if (draw_link(context.theme, {.text = record.strings[frame.function],
                                    .note = location_text(record, frame),
                                    .is_selected = is_shown}))
        shown_.frame = at;
      ImGui::PopID();
    }
  }
  if (shown_.frame == trace::kNone) return draw(context, location);
  const trace::Frame& frame = record.frames[shown_.frame];
  draw(context, {record.strings[frame.file], frame.line});
}

void SourcePreview::draw(PanelContext& context, const model::SourceLocation& location) {
  const Theme& theme = context.theme;
  std::vector<std::string>& folders = context.view.source_folders;
  if (location.line == 0 || location.file.empty()) return;
  if (!draw_section(theme, "Source code",
                    file_name(location.file) + ":" + std::to_string(location.line)))
    return;
  if (!model::is_source_allowed(location, folders)) return draw_permission(context, location);
  const Key key{location, folders};
  lines_.ask(key, [key] { return model::read_source_lines(key.location, key.folders, kAround); });
  const auto lines = lines_.value(key);
  if (!lines) return draw_note(theme, "Reading " + location.file);
  if (!lines->error.empty()) {
    draw_note(theme, lines->error + ".");
    draw_permission(context, location);
  } else {
    draw_lines(theme, *lines, location.line);
  }
  if (!context.view.source_folders_are_fixed &&
      draw_action(theme, "Forbid", "Reads no files of this folder any more")) {
    std::erase_if(folders, [&](const std::string& folder) {
      return model::is_source_allowed(location, {&folder, 1});
    });
  }
}

void SourcePreview::draw_permission(PanelContext& context, const model::SourceLocation& location) {
  const Theme& theme = context.theme;
  if (context.view.source_folders_are_fixed)
    return draw_note(theme, location.file + " is not below a folder that is allowed here.");
  if (proposed_for_ != location.file) {
    proposed_for_ = location.file;
    const std::filesystem::path file = location.file;
    std::error_code ignored;
    folder_ = (file.is_absolute() ? file.parent_path() : std::filesystem::current_path(ignored))
                  .lexically_normal()
                  .string();
  }
  draw_note(theme, "The trace names " + location.file +
                       ". To see the lines, allow the viewer to read files below a folder:");
  const float button = ImGui::CalcTextSize("Allow").x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetNextItemWidth(
      std::max(40.0f, ImGui::GetContentRegionAvail().x - button - theme.half_space));
  ImGui::InputTextWithHint("##source folder", "folder", &folder_);
  ImGui::SameLine(0, theme.half_space);
  ImGui::BeginDisabled(!model::is_source_allowed(location, {&folder_, 1}));
  if (ImGui::Button("Allow", {button, 0})) context.view.source_folders.push_back(folder_);
  ImGui::EndDisabled();
}

void SourcePreview::draw_lines(const Theme& theme, const model::SourceLines& lines,
                               std::uint32_t line) {
  ImGui::PushFont(theme.mono);
  const float height = ImGui::GetTextLineHeightWithSpacing(), bar = ImGui::GetStyle().ScrollbarSize;
  ImGui::BeginChild("source lines", {0, height * static_cast<float>(lines.lines.size()) + bar},
                    false, ImGuiWindowFlags_HorizontalScrollbar);
  const std::string last =
      std::to_string(static_cast<std::size_t>(lines.first) + lines.lines.size() - 1);
  for (std::size_t i = 0; i < lines.lines.size(); ++i) {
    const std::size_t number = lines.first + i;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (number == line) {
      ImGui::GetWindowDrawList()->AddRectFilled(
          at, {at.x + ImGui::GetWindowWidth() + ImGui::GetScrollX(), at.y + height},
          theme.accent_soft);
    }
    std::string text = std::to_string(number);
    text.insert(0, last.size() - std::min(last.size(), text.size()), ' ');
    ImGui::PushStyleColor(ImGuiCol_Text, number == line ? theme.ink : theme.ink_faint);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    ImGui::SameLine(0, theme.space);
    ImGui::PushStyleColor(ImGuiCol_Text, number == line ? theme.ink : theme.ink_soft);
    ImGui::TextUnformatted(lines.lines[i].c_str());
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
  ImGui::PopFont();
}

}  // namespace reprise::viewer

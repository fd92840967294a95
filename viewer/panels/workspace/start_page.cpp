#include "panels/workspace/start_page.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <imgui.h>

#include "panels/shared/keys.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMaxWidth = 1040;               // points
constexpr float kRow = 44, kWorkflowCard = 92;  // heights, points

std::string folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// The product logo: replays as bars, one of them slower.
void draw_logo(const Theme& theme, ImVec2 at, float size) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  constexpr float kBars[] = {0.42f, 0.5f, 0.46f, 0.92f, 0.48f};
  const float step = size / 5, width = std::max(2.0f, std::round(step * 0.62f));
  for (int i = 0; i < 5; ++i) {
    const float left = std::round(at.x + static_cast<float>(i) * step);
    const ImU32 colour =
        i == 3 ? theme.critical : with_alpha(theme.accent, 0.55f + 0.1f * static_cast<float>(i));
    draw.AddRectFilled({left, at.y + size * (1 - kBars[i])}, {left + width, at.y + size}, colour,
                       width / 3);
  }
}

void heading(const Theme& theme, const char* text, const std::string& note) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
  if (!note.empty()) {
    ImGui::SameLine();
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_faint);
    ImGui::TextUnformatted(note.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::Dummy({0, theme.half_space / 2});
}

void wrapped(const std::string& text, ImU32 colour) {
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

// The text, shortened to fit into `width`.
std::string fitted(const std::string& text, float width) {
  const float wide = ImGui::CalcTextSize(text.c_str()).x;
  if (wide <= width || text.empty()) return text;
  return shortened(
      text, static_cast<std::size_t>(
                std::max(4.0f, std::floor(static_cast<float>(text.size()) * width / wide) - 1)));
}

struct RowText {
  std::string title, detail, right;
  ImU32 dot = 0;  // colour; 0: no dot
  bool is_enabled = true;
};

// A clickable row; returns true if it was clicked. `right_margin` stays free for a button.
bool draw_row(const Theme& theme, const char* id, const RowText& text, float right_margin) {
  const float width = ImGui::GetContentRegionAvail().x, height = std::round(kRow * theme.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(id, {std::max(1.0f, width - right_margin), height});
  const bool hovered = ImGui::IsItemHovered() && text.is_enabled;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (hovered) draw.AddRectFilled(at, {at.x + width, at.y + height}, theme.hovered, theme.radius);
  float x = at.x + theme.space;
  if (text.dot != 0) {
    draw.AddCircleFilled({x + 4 * theme.scale, at.y + std::round(height / 2)}, 4 * theme.scale,
                         text.dot);
    x += 18 * theme.scale;
  }
  const float line = font_size(theme.text), small = font_size(theme.small);
  ImGui::PushFont(theme.small);
  const float right =
      text.right.empty() ? 0 : ImGui::CalcTextSize(text.right.c_str()).x + theme.space;
  if (right > 0)
    draw.AddText({at.x + width - right_margin - right, at.y + std::round((height - small) / 2)},
                 theme.ink_soft, text.right.c_str());
  const float text_width = width - right_margin - right - (x - at.x) - theme.space;
  const std::string detail = fitted(text.detail, text_width);
  ImGui::PopFont();
  const float top = at.y + std::round((height - line - small - 2 * theme.scale) / 2);
  draw.AddText(theme.text, line, {x, top}, text.is_enabled ? theme.ink : theme.ink_faint,
               fitted(text.title, text_width).c_str());
  draw.AddText(theme.small, small, {x, top + line + 2 * theme.scale}, theme.ink_soft,
               detail.c_str());
  return clicked && text.is_enabled;
}

void draw_sessions(const Theme& theme, const StartViewModel& view_model, StartAction& action) {
  const auto alive = std::count_if(view_model.sessions.begin(), view_model.sessions.end(),
                                   [](const trace::LiveSession& s) { return s.alive; });
  heading(theme, "Live programs", alive > 0 ? count_text(static_cast<std::uint64_t>(alive)) : "");
  if (alive == 0) {
    wrapped("No live programs. Start a program with REPRISE_TRACE=live to list it here.",
            theme.ink_soft);
    return;
  }
  for (const trace::LiveSession& session : view_model.sessions) {
    if (!session.alive) continue;
    const std::string path = session.path.string();
    const RowText row{.title = session.application.empty()
                                   ? "process " + std::to_string(session.pid)
                                   : session.application,
                      .detail = "process " + std::to_string(session.pid),
                      .right = "live",
                      .dot = theme.good};
    if (draw_row(theme, path.c_str(), row, 0)) action = OpenTarget{path, {}};
    tooltip(path);
  }
}

void begin_card(const Theme& theme, const char* id, float width, float height) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, theme.line);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 2 * theme.radius);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {2 * theme.space, 1.5f * theme.space});
  ImGui::BeginChild(id, {width, height}, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
}

bool accent_button(const Theme& theme, const char* text, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_Button, theme.accent);
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, with_alpha(theme.accent, 0.85f));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, with_alpha(theme.accent, 0.7f));
  ImGui::PushStyleColor(ImGuiCol_Text, theme.on_accent);
  const bool clicked = ImGui::Button(text, size);
  ImGui::PopStyleColor(4);
  return clicked;
}

struct Workflow {
  const char *title, *command, *result;
};
constexpr Workflow kWorkflows[] = {
    {"Profile a running program", "REPRISE_TRACE=live ./program",
     "Listed above and by reprise sessions."},
    {"Profile an unmodified program", "reprise run -- python3 train.py",
     "Shows the CUDA graphs of any process."},
    {"Record to file", "reprise record -o run.reprise -- ./program",
     "Drop the file here, or open it by name."},
    {"Compare two runs", "reprise view before.reprise after.reprise",
     "Shows differences and their significance."}};

constexpr int kWorkflowCount = static_cast<int>(std::size(kWorkflows));

void draw_workflows(const Theme& theme, float width, int columns) {
  const float gap = 2 * theme.space, s = theme.scale;
  const float card =
      std::round((width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  const ImVec2 from = ImGui::GetCursorPos();
  for (int i = 0; i < kWorkflowCount; ++i) {
    const Workflow& workflow = kWorkflows[i];
    const auto column = static_cast<float>(i % columns), row = static_cast<float>(i / columns);
    ImGui::SetCursorPos({from.x + column * (card + gap), from.y + row * (kWorkflowCard * s + gap)});
    ImGui::PushID(i);
    begin_card(theme, "workflow", card, kWorkflowCard * s);
    ImGui::TextUnformatted(workflow.title);
    const float side = ImGui::GetFrameHeight();
    ImGui::PushFont(theme.mono);
    ImGui::AlignTextToFramePadding();
    ImGui::PushStyleColor(ImGuiCol_Text, theme.accent);
    ImGui::TextUnformatted(
        fitted(workflow.command, ImGui::GetContentRegionAvail().x - side).c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    tooltip(workflow.command);
    ImGui::SameLine(ImGui::GetContentRegionMax().x - side);
    if (icon_button(theme, "copy", Icon::Copy, "Copy the command"))
      ImGui::SetClipboardText(workflow.command);
    ImGui::PushFont(theme.small);
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted(fitted(workflow.result, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    ImGui::EndChild();
    ImGui::PopID();
  }
}

}  // namespace

StartAction StartPage::draw(const Theme& theme, const StartViewModel& view_model) {
  StartAction action;
  if (is_pressed(Key::Help)) help_.toggle();
  if (is_pressed(Key::Escape)) help_.close();
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushFont(theme.text);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.background);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::Begin("##start", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();

  const float s = theme.scale, margin = std::min(40 * s, viewport.Size.x * 0.04f);
  const float width = std::min(viewport.Size.x - 2 * margin, kMaxWidth * s),
              left = std::round((viewport.Size.x - width) / 2);
  const bool is_wide = width > 680 * s;
  const bool is_tall = viewport.Size.y > 560 * s;
  float y = is_tall ? std::round(std::max(margin, (viewport.Size.y - 560 * s) * 0.36f)) : margin;

  draw_title(theme, {left, y}, width);
  y += 76 * s;
  ImGui::SetCursorPos({left, y});
  ImGui::BeginGroup();
  draw_open(theme, view_model, width, action);
  ImGui::EndGroup();
  y += ImGui::GetItemRectSize().y + 2 * theme.space;

  const int columns = is_wide ? 2 : 1;  // of the workflows
  const float gap = 2 * theme.space, footer = 40 * s,
              workflows =
                  static_cast<float>(kWorkflowCount / columns) * (kWorkflowCard * s + gap) - gap;
  const auto alive = static_cast<float>(
      std::count_if(view_model.sessions.begin(), view_model.sessions.end(),
                    [](const trace::LiveSession& session) { return session.alive; }));
  const float row = kRow * s + ImGui::GetStyle().ItemSpacing.y, header = 62 * s;
  const float program_height =
      104 * s + (view_model.program_state.empty() ? 0 : row) +
      static_cast<float>(view_model.program_output.size()) * ImGui::GetTextLineHeightWithSpacing();
  const float sessions_height = header + std::max(1.0f, alive) * row + program_height,
              recent_height =
                  header + std::max(1.0f, static_cast<float>(view_model.recent.size())) * row;
  const float max_height =
      std::max(sessions_height, viewport.Size.y - y - gap - workflows - footer - margin);
  const float column = is_wide ? std::round((width - gap) / 2) : width;
  const float first = is_wide ? std::clamp(std::max(sessions_height, recent_height), 200 * s,
                                           std::max(200 * s, max_height))
                              : sessions_height;
  const float second = is_wide ? first : std::min(recent_height, 360 * s);
  ImGui::SetCursorPos({left, y});
  begin_card(theme, "sessions", column, first);
  draw_sessions(theme, view_model, action);
  if (!view_model.is_read_only) draw_program(theme, view_model, action);
  ImGui::EndChild();
  ImGui::SetCursorPos(is_wide ? ImVec2{left + column + gap, y} : ImVec2{left, y + first + gap});
  begin_card(theme, "recent", is_wide ? width - column - gap : width, second);
  draw_recent(theme, view_model, action);
  ImGui::EndChild();
  y += (is_wide ? first : first + gap + second) + gap;

  ImGui::SetCursorPos({left, y});
  draw_workflows(theme, width, columns);
  y += workflows;

  ImGui::PushFont(theme.small);
  ImGui::SetCursorPos({left, y + theme.space * 1.5f});
  ImGui::PushTextWrapPos(left + width);
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.ink_soft),
                     "Drop a trace anywhere to open it, those of the ranks of a job to open them as "
                     "one, or two others to compare them. F1 shows all shortcuts, L toggles the "
                     "light and dark theme.");
  ImGui::PopTextWrapPos();
  ImGui::Dummy({0, theme.space});
  ImGui::PopFont();
  ImGui::End();
  help_.draw(theme);
  ImGui::PopFont();
  return action;
}

void StartPage::draw_recent(const Theme& theme, const StartViewModel& view_model,
                            StartAction& action) {
  heading(theme, "Recent traces", {});
  if (view_model.recent.empty()) {
    wrapped(
        "No recent traces. Drop a trace here, or record one: reprise record -o run.reprise -- "
        "PROGRAM",
        theme.ink_soft);
    return;
  }
  const float side = ImGui::GetFrameHeight() + theme.half_space;
  for (const RecentFile& file : view_model.recent) {
    ImGui::PushID(file.path.c_str());
    const float top = ImGui::GetCursorPosY();
    const RowText row{.title = file_name(file.path),
                      .detail = folder(file.path),
                      .right = file.exists ? file.text : "not found",
                      .is_enabled = file.exists};
    if (draw_row(theme, "row", row, side)) action = OpenTarget{file.path, {}};
    tooltip(file.path + "\n\nRight-click to compare it with another trace");
    draw_recent_menu(file, action);
    const float next = ImGui::GetCursorPosY();
    ImGui::SetCursorPos({ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - side,
                         top + std::round((kRow * theme.scale - ImGui::GetFrameHeight()) / 2)});
    if (icon_button(theme, "forget", Icon::Cross, "Remove from this list; the file is kept"))
      action = ForgetRecent{file.path};
    ImGui::SetCursorPosY(next);
    ImGui::PopID();
  }
}

void StartPage::draw_recent_menu(const RecentFile& file, StartAction& action) {
  if (!ImGui::BeginPopupContextItem("menu")) return;
  if (ImGui::MenuItem("Open", nullptr, false, file.exists)) action = OpenTarget{file.path, {}};
  if (ImGui::MenuItem("Select to compare", nullptr, compared_ == file.path, file.exists))
    compared_ = compared_ == file.path ? std::string() : file.path;
  if (!compared_.empty() && compared_ != file.path &&
      ImGui::MenuItem(("Compare with " + file_name(compared_)).c_str(), nullptr, false,
                      file.exists))
    action = CompareTarget{.first = {compared_, {}}, .second = {file.path, {}}};
  ImGui::Separator();
  if (ImGui::MenuItem("Copy path")) ImGui::SetClipboardText(file.path.c_str());
  if (ImGui::MenuItem("Remove from this list")) action = ForgetRecent{file.path};
  ImGui::EndPopup();
}

void StartPage::draw_title(const Theme& theme, ImVec2 at, float width) {
  const float s = theme.scale, logo = 46 * s;
  const ImVec2 window = ImGui::GetWindowPos();
  const float x = window.x + at.x, y = window.y - ImGui::GetScrollY() + at.y;
  draw_logo(theme, {x, y}, logo);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImFont* const large = theme.title != nullptr ? theme.title : theme.heading;
  const float line = font_size(large), text = x + logo + 16 * s;
  draw.AddText(large, line, {text, std::round(y - 5 * s)}, theme.ink, "Reprise");
  draw.AddText(theme.text, font_size(theme.text), {text, std::round(y - 3 * s + line)},
               theme.ink_soft,
               width > 460 * s ? "Profiler for graphs and their replays" : "Graph profiler");
}

void StartPage::draw_open(const Theme& theme, const StartViewModel& view_model, float width,
                          StartAction& action) {
  const float left = ImGui::GetCursorPosX();
  if (!view_model.is_read_only) draw_address(theme, width, action);
  if (view_model.error.empty()) return;
  ImGui::SetCursorPosX(left);
  ImGui::PushTextWrapPos(left + width);
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.error), "%s", view_model.error.c_str());
  ImGui::PopTextWrapPos();
}

void StartPage::draw_address(const Theme& theme, float width, StartAction& action) {
  const float s = theme.scale, button = 92 * s, token = width > 560 * s ? 190 * s : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {1.25f * theme.space, 7 * s});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, theme.raised);
  ImGui::SetNextItemWidth(width - 2 * (button + theme.space) -
                          (token > 0 ? token + theme.space : 0));
  const bool entered = ImGui::InputTextWithHint(
      "##address",
      width > 560 * s ? "Trace file, session socket or host:port" : "file or host:port", address_,
      sizeof address_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine(0, theme.space);
  bool token_entered = false;
  if (token > 0) {
    ImGui::SetNextItemWidth(token);
    token_entered = ImGui::InputTextWithHint(
        "##token", "token for host:port", token_, sizeof token_,
        ImGuiInputTextFlags_Password | ImGuiInputTextFlags_EnterReturnsTrue);
    tooltip("The value of REPRISE_TOKEN in the traced process");
    ImGui::SameLine(0, theme.space);
  }
  ImGui::PopStyleColor();
  const bool clicked = accent_button(theme, "Open", {button, 0});
  ImGui::SameLine(0, theme.space);
  if (ImGui::Button("Browse...", {button, 0})) action = BrowseFiles{};
  tooltip("Folders and trace files of this machine (Ctrl+O)");
  ImGui::PopStyleVar(2);
  if ((entered || token_entered || clicked) && address_[0] != '\0')
    action = OpenTarget{address_, token_};
}

void StartPage::draw_program(const Theme& theme, const StartViewModel& view_model,
                             StartAction& action) {
  ImGui::Dummy({0, theme.space});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {1.5f * theme.space, 6 * theme.scale});
  const char* const button = view_model.is_program_running ? "Stop" : "Run";
  const float width = ImGui::CalcTextSize("Stop").x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  ImGui::SetNextItemWidth(std::max(40.0f, ImGui::GetContentRegionAvail().x - width - theme.space));
  const bool entered =
      ImGui::InputTextWithHint("##command", "Command to run, such as python3 train.py", command_,
                               sizeof command_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  if (!ImGui::IsItemActive())
    tooltip("Runs the program as reprise run does, and opens its live session");
  ImGui::SameLine(0, theme.space);
  const bool clicked = ImGui::Button(button, {width, 0});
  if (view_model.is_program_running) {
    if (clicked) action = StopProgram{};
  } else if ((clicked || entered) && command_[0] != '\0') {
    action = RunProgram{command_};
  }
  if (view_model.sample.empty()) {
    wrapped("The digits sample is not installed.", theme.ink_faint);
  } else if (!view_model.is_program_running) {
    if (ImGui::Button("Run the digits sample live")) action = RunSample{};
    tooltip("Trains a small network on this machine and opens its live session\n" +
            view_model.sample);
  }
  ImGui::PopStyleVar();
  if (!view_model.program_state.empty()) wrapped(view_model.program_state, theme.ink_soft);
  ImGui::PushFont(theme.mono);
  for (const std::string& line : view_model.program_output) wrapped(line, theme.ink_faint);
  ImGui::PopFont();
}

}  // namespace reprise::viewer

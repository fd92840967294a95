// Workspace: drawing of the bars and layout of the panels.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/widgets/format.hpp"
#include "panels/widgets/region.hpp"
#include "panels/widgets/splitter.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/widgets/widgets.hpp"
#include "panels/workspace/status_line.hpp"
#include "panels/workspace/workspace_state.hpp"

namespace reprise::viewer {

namespace {

// In points. A window with less height for the views shows one at a time: two would have fewer than
// eight rows each.
constexpr float kTwoPanelHeight = 600;
constexpr float kMinStrip = 34, kMinUpper = 150, kMinLower = 130, kMinInspector = 220;
constexpr float kConsolePart = 0.25f;  // of the height between the bars
constexpr std::size_t kMaxReasons = 3;

// The last warnings of the trace, one per line, as an explanation for a missing graph; `fallback`
// if the trace has no warnings.
std::string reasons_in(const model::Document& document, const std::string& fallback) {
  std::vector<std::string> lines;
  for (std::size_t i = document.messages.size(); i-- > 0 && lines.size() < kMaxReasons;) {
    const trace::Message& message = document.messages[i];
    if (message.severity != trace::Severity::Info) lines.push_back(message.text);
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    text += (text.empty() ? "" : "\n") + *line;
  return text.empty() ? fallback : text;
}

}  // namespace

void Workspace::draw(const Theme& theme, WorkspaceLayout& layout) {
  State& s = *state_;
  s.update_document();
  s.view.source_folders = layout.source_folders;
  s.view.source_folders_are_fixed = layout.source_folders_are_fixed;
  const model::GraphEntry* const entry = s.document->find(s.view.graph);
  PanelContext context{s.document,
                       entry,
                       s.view_model.graph(),
                       s.view_model.figures(),
                       s.view_model.replay(),
                       s.view_model.matches(),
                       s.other,
                       s.name,
                       s.other_name,
                       s.feed->is_live(),
                       s.incomplete,
                       s.view,
                       theme,
                       s.background};

  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.background);
  ImGui::PushFont(theme.text);
  ImGui::Begin("##workspace", nullptr,
               // Without NoSavedSettings, which tables would inherit: columns keep their widths.
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  s.begin_panels();
  const ImVec2 min = viewport.Pos, max{min.x + viewport.Size.x, min.y + viewport.Size.y};
  const float bar = min.y + TopBar::height(theme), status = max.y - status_height(theme);
  const float console = s.console.is_open() ? std::round((status - bar) * kConsolePart) : 0;

  begin_bar(theme, "bar", min, {max.x, bar});
  s.draw_bar(context);
  ImGui::EndChild();
  if (entry != nullptr) {
    s.draw_body(context, layout, {min.x, bar}, {max.x, status - console});
  } else {
    begin_region(theme, "nothing", {min.x, bar + theme.splitter},
                 {max.x, status - console - theme.splitter}, Scrolls::No);
    s.draw_empty_document(theme);
    ImGui::EndChild();
  }
  if (console > 0) {
    begin_region(theme, "console", {min.x, status - console}, {max.x, status - theme.splitter},
                 Scrolls::No);
    s.console.draw(theme, s.program_output, s.program_end);
    ImGui::EndChild();
  }
  begin_bar(theme, "status", {min.x, status}, max);
  if (draw_status(context, {.status = s.status,
                            .figures = s.view_model.figures(),
                            .error = s.view_model.error(),
                            .program_output = s.program_output,
                            .program_end = s.program_end}))
    s.console.toggle();
  ImGui::EndChild();
  s.end_panels();
  layout.source_folders = s.view.source_folders;
  ImGui::End();
  s.help.draw(theme);
  ImGui::PopFont();
}

void Workspace::State::draw_bar(PanelContext& context) {
  const auto& matches = view_model.matches();
  const TopBarViewModel now{.status = status,
                            .figures = view_model.figures(),
                            .matches = static_cast<std::size_t>(
                                std::count(matches.begin(), matches.end(), std::uint8_t{1})),
                            .search_error = view_model.search_error(),
                            .restart = restart,
                            .notes = notes ? &*notes : nullptr};
  const TopBarActions actions = bar.draw(context, now);
  if (actions.graph) view.show_graph(*actions.graph);
  if (actions.profile) feed->request_profile(*actions.profile);
  if (actions.find != 0) step_match(actions.find);
  close = close || actions.close;
  shade_change = shade_change || actions.shade;
  record = record || actions.record;
  attach = attach || actions.attach;
  if (actions.help) help.toggle();
}

void Workspace::State::draw_empty_document(const Theme& theme) {
  const std::string target = shortened(name, 80);
  switch (status.state) {
    case model::FeedState::Opening:
      return draw_busy(theme, feed->is_live() ? "Connecting to " + target : "Opening " + target);
    case model::FeedState::Loading:
      return draw_busy(theme, "Loading " + target + ": " + percent_text(status.progress));
    case model::FeedState::Ready:
      return draw_empty(
          theme, "No graph in " + target,
          status.reason.empty()
              ? reasons_in(*document, "The traced program compiled no graph while it was traced.")
              : status.reason);
    case model::FeedState::Live:
      return draw_empty(theme, "Connected, waiting for the first graph",
                        reasons_in(*document, "The program has not compiled a graph yet."));
    case model::FeedState::Ended:
      return draw_empty(theme, "The program exited before it compiled a graph",
                        status.reason.empty()
                            ? reasons_in(*document, "Ctrl+W returns to the start page.")
                            : status.reason);
    case model::FeedState::Failed:
      return draw_empty(theme, "Cannot open " + target,
                        (status.reason.empty() ? "" : status.reason + "\n") +
                            "Ctrl+W returns to the start page.");
  }
}

void Workspace::State::draw_body(PanelContext& context, WorkspaceLayout& layout, ImVec2 min,
                                 ImVec2 max) {
  const Theme& theme = context.theme;
  const float s = theme.scale, gap = theme.splitter, height = max.y - min.y;
  const bool is_narrow = max.x - min.x < kNarrow * s, is_low = height < kTwoPanelHeight * s;
  if (view.focus_note) {  // the note is below the inspector
    view.fills_window = false;
    if (is_narrow) view.show(View::Inspector);
  }
  const bool fills = view.fills_window;
  const TabRows rows = is_low || fills ? TabRows::Both : TabRows::Upper;
  const float tabs_end = min.y + gap + tab_height(theme);
  const View front =
      draw_tab_bar(theme, rows, is_narrow || fills ? InspectorTab::Yes : InspectorTab::No,
                   {min.x, min.y + gap}, {max.x, tabs_end});
  if (fills) return draw_view(context, front, "upper", {min.x, tabs_end}, {max.x, max.y - gap});
  // The Replays view draws the same bars, larger.
  if (front == View::Replays)
    return draw_views(context, layout, front, rows, {min.x, tabs_end}, {max.x, max.y - gap});

  const float max_strip = height * (is_low ? 0.24f : 0.5f);
  const float strip =
      std::round(std::clamp(layout.strip * s, std::min(kMinStrip * s, max_strip), max_strip));
  const float strip_end = tabs_end + strip, upper_top = strip_end + gap;
  begin_region(theme, "strip", {min.x, tabs_end}, {max.x, strip_end}, Scrolls::No);
  draw_panel(context, View::Strip);
  ImGui::EndChild();
  draw_views(context, layout, front, rows, {min.x, upper_top}, {max.x, max.y - gap});

  const SplitterMove move = draw_splitter(theme, "##strip splitter", SplitterAxis::Level,
                                          {min.x, strip_end}, {max.x, upper_top});
  if (move.by != 0) layout.strip = std::clamp(strip + move.by, kMinStrip * s, height * 0.6f) / s;
  if (move.reset) layout.strip = WorkspaceLayout{}.strip;
}

void Workspace::State::draw_views(PanelContext& context, WorkspaceLayout& layout, View front,
                                  TabRows rows, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const float s = theme.scale, gap = theme.splitter, width = max.x - min.x,
              height = max.y - min.y - gap;
  const bool is_narrow = width < kNarrow * s, has_lower = rows != TabRows::Both;
  const auto lower_of = [&](auto& of) -> auto& {
    return front == View::Timeline ? of.below_timeline : of.lower;
  };
  const float lower_part = !enlarged                            ? lower_of(layout)
                           : row_of(*enlarged) == TabRow::Lower ? 0.68f
                                                                : 0.26f;
  const float min_lower = std::min(tab_height(theme) + kMinLower * s, height / 2),
              min_upper = std::min(kMinUpper * s, height / 2);
  const float lower = std::round(std::clamp(height * lower_part, min_lower, height - min_upper));
  const float side =
      is_narrow ? 0
                : std::round(std::clamp(width * layout.inspector, kMinInspector * s, width * 0.6f));
  const float upper_end = has_lower ? max.y - lower - gap : max.y,
              upper_right = is_narrow ? max.x : max.x - side - gap;

  draw_view(context, front, "upper", min, {upper_right, upper_end});
  const WorkspaceLayout defaults;
  if (!is_narrow) {
    draw_inspector(context, {upper_right + gap, min.y}, {max.x, upper_end});
    const SplitterMove move = draw_splitter(theme, "##inspector splitter", SplitterAxis::Upright,
                                            {upper_right, min.y}, {upper_right + gap, upper_end});
    if (move.by != 0) layout.inspector = std::clamp((side - move.by) / width, 0.05f, 0.6f);
    if (move.reset) layout.inspector = defaults.inspector;
  }
  if (!has_lower) return;
  const float lower_top = upper_end + gap, tabs_end = lower_top + tab_height(theme);
  const View lower_view =
      draw_tab_bar(theme, TabRows::Lower, InspectorTab::No, {min.x, lower_top}, {max.x, tabs_end});
  draw_view(context, lower_view, "lower", {min.x, tabs_end}, max);
  const SplitterMove move = draw_splitter(theme, "##lower splitter", SplitterAxis::Level,
                                          {min.x, upper_end}, {max.x, lower_top});
  if (move.by != 0) lower_of(layout) = std::clamp((lower - move.by) / height, 0.08f, 0.92f);
  if (move.reset) lower_of(layout) = lower_of(defaults);
  if (move.by != 0 || move.reset) enlarged.reset();
}

}  // namespace reprise::viewer

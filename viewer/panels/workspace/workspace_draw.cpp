// How a Workspace looks: its bars, and where its panels stand.
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

constexpr float kLow = 430;  // points: below, one panel alone has a place
constexpr float kLeastStrip = 34, kLeastLower = 60, kLeastInspector = 220;
constexpr std::size_t kMostReasons = 3;

// What the trace itself says of why there is no graph: its last warnings, a line each; `otherwise`
// where it has none.
std::string reasons_in(const model::Document& document, const std::string& otherwise) {
  std::vector<std::string> lines;
  for (std::size_t i = document.messages.size(); i-- > 0 && lines.size() < kMostReasons;) {
    const trace::Message& message = document.messages[i];
    if (message.severity != trace::Severity::Info) lines.push_back(message.text);
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    text += (text.empty() ? "" : "\n") + *line;
  return text.empty() ? otherwise : text;
}

}  // namespace

void Workspace::draw(const Theme& theme, WorkspaceLayout& layout) {
  State& s = *state_;
  s.take_document();
  const model::GraphEntry* const entry = s.document->find(s.view.graph);
  PanelContext context{
      s.document, entry,       s.view_model.graph(), s.view_model.replay(), s.view_model.matches(),
      s.other,    s.name,      s.other_name,         s.feed->is_live(),     s.view,
      theme,      s.background};

  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.background);
  ImGui::PushFont(theme.text);
  ImGui::Begin("##workspace", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  s.begin_turns();
  const ImVec2 min = viewport.Pos, max{min.x + viewport.Size.x, min.y + viewport.Size.y};
  const float bar = min.y + TopBar::height(theme), status = max.y - status_height(theme);

  begin_bar(theme, "bar", min, {max.x, bar});
  s.draw_bar(context);
  ImGui::EndChild();
  if (entry != nullptr) {
    s.draw_body(context, layout, {min.x, bar}, {max.x, status});
  } else {
    begin_region(theme, "nothing", {min.x, bar + theme.splitter}, {max.x, status - theme.splitter},
                 Scrolls::No);
    s.draw_empty_document(theme);
    ImGui::EndChild();
  }
  begin_bar(theme, "status", {min.x, status}, max);
  draw_status(
      context,
      {.status = s.status, .figures = s.view_model.figures(), .error = s.view_model.error()});
  ImGui::EndChild();
  s.end_turns();
  ImGui::End();
  s.help.draw(theme);
  ImGui::PopFont();
}

void Workspace::State::draw_bar(PanelContext& context) {
  const auto& matches = view_model.matches();
  const TopBarViewModel now{.status = status,
                            .figures = view_model.figures(),
                            .matches = static_cast<std::size_t>(
                                std::count(matches.begin(), matches.end(), std::uint8_t{1}))};
  const TopBarActions actions = bar.draw(context, now);
  if (actions.graph) view.graph = *actions.graph;
  if (actions.profile) feed->request_profile(*actions.profile);
  if (actions.find != 0) step_match(actions.find);
  close = close || actions.close;
  shade_change = shade_change || actions.shade;
  if (actions.help) help.toggle();
}

void Workspace::State::draw_empty_document(const Theme& theme) {
  const std::string what = shortened(name, 80);
  switch (status.state) {
    case model::FeedState::Opening:
      return draw_busy(theme, feed->is_live() ? "Connecting to " + what : "Opening " + what);
    case model::FeedState::Loading:
      return draw_busy(theme, "Reading " + what + ": " + percent_text(status.progress));
    case model::FeedState::Ready:
      return draw_empty(
          theme, "There is no graph in " + what,
          status.reason.empty()
              ? reasons_in(
                    *document,
                    "The program that wrote it compiled none, or was traced only before that.")
              : status.reason);
    case model::FeedState::Live:
      return draw_empty(
          theme, "Connected, and waiting for the first graph",
          reasons_in(*document,
                     "The session has not compiled one yet. It appears here as soon as it does."));
    case model::FeedState::Ended:
      return draw_empty(theme, "The session ended before it compiled a graph",
                        status.reason.empty()
                            ? reasons_in(*document, "Ctrl+W goes back to the start page.")
                            : status.reason);
    case model::FeedState::Failed:
      return draw_empty(theme, "This could not be opened: " + what,
                        (status.reason.empty() ? "" : status.reason + "\n") +
                            "Ctrl+W goes back to the start page.");
  }
}

void Workspace::State::draw_body(PanelContext& context, WorkspaceLayout& layout, ImVec2 min,
                                 ImVec2 max) {
  const Theme& theme = context.theme;
  const float s = theme.scale, gap = theme.splitter, height = max.y - min.y;
  const bool is_low = height < kLow * s, tall_strip = in_front == View::Replays;

  const float most_strip = height * (tall_strip ? 0.6f : is_low ? 0.24f : 0.5f);
  const float strip = std::round(std::clamp(tall_strip ? height * 0.5f : layout.strip * s,
                                            std::min(kLeastStrip * s, most_strip), most_strip));
  const float strip_top = min.y + gap, strip_end = strip_top + strip, upper_top = strip_end + gap;
  begin_region(theme, "strip", {min.x, strip_top}, {max.x, strip_end}, Scrolls::No);
  draw_panel(context, PanelPlace::Strip);
  ImGui::EndChild();
  if (is_low) {
    draw_one(context, {min.x, upper_top}, {max.x, max.y - gap});
  } else {
    draw_two(context, layout, {min.x, upper_top}, max);
  }

  const SplitterMove move = draw_splitter(theme, "##strip splitter", SplitterAxis::Level,
                                          {min.x, strip_end}, {max.x, upper_top});
  if (move.by != 0) {
    layout.strip = std::clamp(strip + move.by, kLeastStrip * s, height * 0.6f) / s;
    if (tall_strip) in_front.reset();
  }
  if (move.reset) {
    layout.strip = WorkspaceLayout{}.strip;
    in_front.reset();
  }
}

void Workspace::State::draw_two(PanelContext& context, WorkspaceLayout& layout, ImVec2 min,
                                ImVec2 max) {
  const Theme& theme = context.theme;
  const float s = theme.scale, gap = theme.splitter, width = max.x - min.x,
              rest = max.y - min.y - 2 * gap;
  const bool is_narrow = width < kNarrow * s;
  float lower_part = layout.lower;
  if (in_front == View::Nodes || in_front == View::Memory || in_front == View::Compare)
    lower_part = 0.68f;
  if (in_front == View::Timeline || in_front == View::Sync || in_front == View::Graph)
    lower_part = 0.26f;
  const float least_lower = tab_height(theme) + kLeastLower * s;
  const float lower = std::round(std::clamp(rest * lower_part, std::min(least_lower, rest / 2),
                                            std::max(rest - least_lower, rest / 2)));
  const float side =
      is_narrow
          ? 0
          : std::round(std::clamp(width * layout.inspector, kLeastInspector * s, width * 0.6f));
  const float upper_end = max.y - gap - lower - gap, lower_top = upper_end + gap,
              upper_right = is_narrow ? max.x : max.x - side - gap;

  draw_upper(context, min, {upper_right, upper_end});
  if (!is_narrow) {
    draw_inspector(context, {upper_right + gap, min.y}, {max.x, upper_end});
  }
  draw_lower(context, {min.x, lower_top}, {max.x, max.y - gap});

  const WorkspaceLayout first;
  const SplitterMove of_lower = draw_splitter(theme, "##lower splitter", SplitterAxis::Level,
                                              {min.x, upper_end}, {max.x, lower_top});
  if (of_lower.by != 0) layout.lower = std::clamp((lower - of_lower.by) / rest, 0.08f, 0.92f);
  if (of_lower.reset) layout.lower = first.lower;
  if ((of_lower.by != 0 && in_front != View::Replays) || of_lower.reset) in_front.reset();
  if (is_narrow) return;
  const SplitterMove of_side = draw_splitter(theme, "##inspector splitter", SplitterAxis::Upright,
                                             {upper_right, min.y}, {upper_right + gap, upper_end});
  if (of_side.by != 0) layout.inspector = std::clamp((side - of_side.by) / width, 0.05f, 0.6f);
  if (of_side.reset) layout.inspector = first.inspector;
}

}  // namespace reprise::viewer

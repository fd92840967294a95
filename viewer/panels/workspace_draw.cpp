// How a Workspace looks: where its panels stand, and what they tell each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/format.hpp"
#include "panels/icons.hpp"
#include "panels/keys.hpp"
#include "panels/splitter.hpp"
#include "panels/status_line.hpp"
#include "panels/tabs.hpp"
#include "panels/widgets.hpp"
#include "panels/workspace_state.hpp"

namespace reprise::viewer {

namespace {

constexpr float kLow = 430;     // points: below, one panel alone has a place
constexpr float kNarrow = 760;  // points: below, the inspector has no place of its own
constexpr float kLeastStrip = 34, kLeastLower = 60, kLeastInspector = 220;

enum class Scrolls : std::uint8_t { No, Itself };

void begin_region(const Theme& theme, const char* id, ImVec2 min, ImVec2 max, Scrolls scrolls) {
  ImGui::SetCursorScreenPos(min);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.panel);
  const ImGuiWindowFlags fixed = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::BeginChild(id, {std::max(1.0f, max.x - min.x), std::max(1.0f, max.y - min.y)}, false,
                    ImGuiWindowFlags_AlwaysUseWindowPadding | (scrolls == Scrolls::No ? fixed : 0));
  ImGui::PopStyleColor();
}

// A region without a border of free space, for bars.
void begin_bar(const Theme& theme, const char* id, ImVec2 min, ImVec2 max) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme.half_space, 0});
  begin_region(theme, id, min, max, Scrolls::No);
  ImGui::PopStyleVar();
}

std::size_t messages_worth_a_look(const model::Document& document, std::uint64_t& errors) {
  constexpr std::size_t kMostCounted = 1000;
  std::size_t count = document.losses.size();
  const std::size_t all = document.messages.size();
  for (std::size_t i = all > kMostCounted ? all - kMostCounted : 0; i < all; ++i) {
    const trace::Severity severity = document.messages[i].severity;
    count += severity != trace::Severity::Info ? 1 : 0;
    errors += severity == trace::Severity::Error ? 1 : 0;
  }
  return count;
}

}  // namespace

void Workspace::draw(const Theme& theme, WorkspaceLayout& layout) {
  State& s = *state_;
  s.take_document();
  const model::GraphEntry* const entry = s.document->find(s.view.graph);
  Frame frame{s.document,        entry,  s.facts.graph(), s.facts.replay(), s.facts.matches(), s.other, s.name, s.other_name,
              s.feed->is_live(), s.view, theme,           s.background};

  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.background);
  ImGui::PushFont(theme.text);
  ImGui::Begin("##workspace", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  s.begin_turns();
  const ImVec2 min = viewport.Pos, max{min.x + viewport.Size.x, min.y + viewport.Size.y};
  const float bar = min.y + TopBar::height(theme), status = max.y - status_height(theme);

  begin_bar(theme, "bar", min, {max.x, bar});
  s.draw_bar(frame);
  ImGui::EndChild();
  if (entry != nullptr) {
    s.draw_body(frame, layout, {min.x, bar}, {max.x, status});
  } else {
    begin_region(theme, "nothing", {min.x, bar + theme.splitter}, {max.x, status - theme.splitter}, Scrolls::No);
    s.draw_empty_document(theme);
    ImGui::EndChild();
  }
  begin_bar(theme, "status", {min.x, status}, max);
  draw_status(frame, {.status = s.status, .figures = s.facts.figures(), .error = s.facts.error()});
  ImGui::EndChild();
  s.end_turns();
  ImGui::End();
  s.help.draw(theme);
  ImGui::PopFont();
}

void Workspace::State::draw_bar(Frame& frame) {
  const auto& matches = facts.matches();
  const TopBarFacts now{
      .status = status, .figures = facts.figures(), .matches = static_cast<std::size_t>(std::count(matches.begin(), matches.end(), std::uint8_t{1}))};
  const TopBarActions actions = bar.draw(frame, now);
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
    case model::FeedState::Opening: return draw_busy(theme, feed->is_live() ? "Connecting to " + what : "Opening " + what);
    case model::FeedState::Loading: return draw_busy(theme, "Reading " + what + ": " + percent_text(status.progress));
    case model::FeedState::Ready:
      return draw_empty(theme, "There is no graph in " + what,
                        status.reason.empty() ? "The program that wrote it compiled none, or was traced only before that." : status.reason);
    case model::FeedState::Live:
      return draw_empty(theme, "Connected, and waiting for the first graph",
                        "The session has not compiled one yet. It appears here as soon as it does.");
    case model::FeedState::Ended:
      return draw_empty(theme, "The session ended before it compiled a graph",
                        status.reason.empty() ? "Ctrl+W goes back to the start page." : status.reason);
    case model::FeedState::Failed:
      return draw_empty(theme, "This could not be opened: " + what,
                        (status.reason.empty() ? "" : status.reason + "\n") + "Ctrl+W goes back to the start page.");
  }
}

void Workspace::State::draw_body(Frame& frame, WorkspaceLayout& layout, ImVec2 min, ImVec2 max) {
  const Theme& theme = frame.theme;
  const float s = theme.scale, gap = theme.splitter, height = max.y - min.y;
  const bool is_low = height < kLow * s, tall_strip = in_front == View::Replays;

  const float most_strip = height * (tall_strip ? 0.6f : is_low ? 0.24f : 0.5f);
  const float strip = std::round(std::clamp(tall_strip ? height * 0.5f : layout.strip * s, std::min(kLeastStrip * s, most_strip), most_strip));
  const float strip_top = min.y + gap, strip_end = strip_top + strip, upper_top = strip_end + gap;
  begin_region(theme, "strip", {min.x, strip_top}, {max.x, strip_end}, Scrolls::No);
  draw_panel(frame, PanelPlace::Strip, replays);
  ImGui::EndChild();
  if (is_low) {
    draw_one(frame, {min.x, upper_top}, {max.x, max.y - gap});
  } else {
    draw_two(frame, layout, {min.x, upper_top}, max);
  }

  const SplitterMove move = draw_splitter(theme, "##strip splitter", SplitterAxis::Level, {min.x, strip_end}, {max.x, upper_top});
  if (move.by != 0) {
    layout.strip = std::clamp(strip + move.by, kLeastStrip * s, height * 0.6f) / s;
    if (tall_strip) in_front.reset();
  }
  if (move.reset) {
    layout.strip = WorkspaceLayout{}.strip;
    in_front.reset();
  }
}

void Workspace::State::draw_two(Frame& frame, WorkspaceLayout& layout, ImVec2 min, ImVec2 max) {
  const Theme& theme = frame.theme;
  const float s = theme.scale, gap = theme.splitter, width = max.x - min.x, rest = max.y - min.y - 2 * gap;
  const bool is_narrow = width < kNarrow * s;
  float lower_part = layout.lower;
  if (in_front == View::Nodes || in_front == View::Memory || in_front == View::Compare) lower_part = 0.68f;
  if (in_front == View::Timeline || in_front == View::Sync || in_front == View::Graph) lower_part = 0.26f;
  const float least_lower = tab_height(theme) + kLeastLower * s;
  const float lower = std::round(std::clamp(rest * lower_part, std::min(least_lower, rest / 2), std::max(rest - least_lower, rest / 2)));
  const float side = is_narrow ? 0 : std::round(std::clamp(width * layout.inspector, kLeastInspector * s, width * 0.6f));
  const float upper_end = max.y - gap - lower - gap, lower_top = upper_end + gap, upper_right = is_narrow ? max.x : max.x - side - gap;

  draw_upper(frame, min, {upper_right, upper_end});
  if (!is_narrow) {
    begin_region(theme, "inspector", {upper_right + gap, min.y}, {max.x, upper_end}, Scrolls::Itself);
    draw_panel(frame, PanelPlace::Inspector, inspector);
    ImGui::EndChild();
  }
  draw_lower(frame, {min.x, lower_top}, {max.x, max.y - gap});

  const WorkspaceLayout first;
  const SplitterMove of_lower = draw_splitter(theme, "##lower splitter", SplitterAxis::Level, {min.x, upper_end}, {max.x, lower_top});
  if (of_lower.by != 0) layout.lower = std::clamp((lower - of_lower.by) / rest, 0.08f, 0.92f);
  if (of_lower.reset) layout.lower = first.lower;
  if ((of_lower.by != 0 && in_front != View::Replays) || of_lower.reset) in_front.reset();
  if (is_narrow) return;
  const SplitterMove of_side =
      draw_splitter(theme, "##inspector splitter", SplitterAxis::Upright, {upper_right, min.y}, {upper_right + gap, upper_end});
  if (of_side.by != 0) layout.inspector = std::clamp((side - of_side.by) / width, 0.05f, 0.6f);
  if (of_side.reset) layout.inspector = first.inspector;
}

void Workspace::State::draw_one(Frame& frame, ImVec2 min, ImVec2 max) {
  const Theme& theme = frame.theme;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "all tabs", min, {max.x, tabs_end});
  std::vector<Tab> tabs = upper_tabs();
  const std::size_t upper_count = tabs.size();
  for (Tab& tab : lower_tabs(theme)) tabs.push_back(std::move(tab));
  const std::size_t upper_now = inspector_above ? upper_count - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t now = lower_alone ? upper_count + static_cast<std::size_t>(view.lower) : upper_now;
  const std::size_t chosen = draw_tabs(theme, "tabs", tabs, now, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  if (chosen != now) {
    lower_alone = chosen >= upper_count;
    inspector_above = chosen == upper_count - 1;
    if (lower_alone) view.lower = static_cast<LowerTab>(chosen - upper_count);
    if (chosen + 1 < upper_count) view.upper = static_cast<UpperTab>(chosen);
  }
  const UpperTab upper_before = view.upper;
  const LowerTab lower_before = view.lower;
  const bool scrolls = lower_alone || inspector_above || view.upper == UpperTab::Sync;
  begin_region(theme, "one", {min.x, tabs_end}, max, scrolls ? Scrolls::Itself : Scrolls::No);
  if (lower_alone) {
    draw_lower_panel(frame);
  } else {
    draw_upper_panel(frame);
  }
  ImGui::EndChild();
  if (view.upper != upper_before) lower_alone = inspector_above = false;  // the panel sends there
  if (view.lower != lower_before) lower_alone = true;
}

// The inspector is the last one: only where it has no place of its own.
std::vector<Tab> Workspace::State::upper_tabs() {
  return {{"Graph", "What runs, and what waits for what (1)", {}, 0},
          {"Timeline", "The nodes of one replay over time (2)", {}, 0},
          {"Sync", "Barriers and edges, and what they cost (3)", {}, 0},
          {"Inspector", "Everything about what is selected", {}, 0}};
}

std::vector<Tab> Workspace::State::lower_tabs(const Theme& theme) const {
  std::vector<Tab> tabs = {{"Nodes", "Every node with its figures (4)", {}, 0},
                           {"Memory", "Buffers in the slab, and pools (5)", {}, 0},
                           {"Compare", "What changed between two stretches of replays, or two traces (6)", {}, 0},
                           {"Messages", "What the engine had to say, updates and losses (7)", {}, 0}};
  std::uint64_t errors = 0;
  const std::size_t worth = messages_worth_a_look(*document, errors);
  if (worth == 0) return tabs;
  tabs[3].badge = worth > 999 ? "999+" : std::to_string(worth);
  tabs[3].badge_colour = errors > 0 ? theme.error : theme.warning;
  return tabs;
}

void Workspace::State::draw_upper(Frame& frame, ImVec2 min, ImVec2 max) {
  const Theme& theme = frame.theme;
  const bool is_narrow = ImGui::GetMainViewport()->Size.x < kNarrow * theme.scale;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "upper tabs", min, {max.x, tabs_end});
  const std::vector<Tab> tabs = upper_tabs();
  const std::size_t count = tabs.size() - (is_narrow ? 0 : 1);
  if (!is_narrow) inspector_above = false;
  const std::size_t now = inspector_above ? tabs.size() - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t chosen = draw_tabs(theme, "tabs", {tabs.data(), count}, now, ImGui::GetContentRegionAvail().x);
  if (chosen != now) {
    inspector_above = chosen == tabs.size() - 1;
    if (!inspector_above) view.upper = static_cast<UpperTab>(chosen);
  }
  ImGui::EndChild();
  const bool scrolls = inspector_above || view.upper == UpperTab::Sync;
  begin_region(theme, "upper", {min.x, tabs_end}, max, scrolls ? Scrolls::Itself : Scrolls::No);
  draw_upper_panel(frame);
  ImGui::EndChild();
}

void Workspace::State::draw_upper_panel(Frame& frame) {
  if (inspector_above) {
    const UpperTab before = view.upper;
    draw_panel(frame, PanelPlace::Inspector, inspector);
    if (view.upper != before) inspector_above = false;  // it sends there
    return;
  }
  switch (view.upper) {
    case UpperTab::Graph: return draw_panel(frame, PanelPlace::Graph, graph);
    case UpperTab::Timeline: return draw_panel(frame, PanelPlace::Timeline, timeline);
    case UpperTab::Sync: return draw_panel(frame, PanelPlace::Sync, sync);
  }
}

void Workspace::State::draw_lower(Frame& frame, ImVec2 min, ImVec2 max) {
  const Theme& theme = frame.theme;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "lower tabs", min, {max.x, tabs_end});
  const std::vector<Tab> tabs = lower_tabs(theme);
  const auto chosen = draw_tabs(theme, "tabs", tabs, static_cast<std::size_t>(view.lower), ImGui::GetContentRegionAvail().x);
  view.lower = static_cast<LowerTab>(chosen);
  ImGui::EndChild();
  begin_region(theme, "lower", {min.x, tabs_end}, max, Scrolls::Itself);
  draw_lower_panel(frame);
  ImGui::EndChild();
}

void Workspace::State::draw_lower_panel(Frame& frame) {
  switch (view.lower) {
    case LowerTab::Nodes: return draw_panel(frame, PanelPlace::Nodes, nodes);
    case LowerTab::Memory: return draw_panel(frame, PanelPlace::Memory, memory);
    case LowerTab::Compare: return draw_panel(frame, PanelPlace::Compare, compare);
    case LowerTab::Messages: return draw_panel(frame, PanelPlace::Messages, messages);
  }
}

// What a panel said in the last frame is for all panels of this one: each is told once to reveal the selection, as soon as it is drawn; what the
// mouse is on is told to all by the one that it is on.
void Workspace::State::begin_turns() {
  if (std::exchange(view.reveal_selection, false)) reveal.fill(true);
  hovered_before = view.hovered;
  hovered_next = {};
  fit_at = PanelPlace::Count;
  if (std::exchange(view.fit, false)) {
    constexpr std::array<PanelPlace, 3> kUpper = {PanelPlace::Graph, PanelPlace::Timeline, PanelPlace::Sync};
    fit_at = mouse_at != PanelPlace::Count ? mouse_at : kUpper[static_cast<std::size_t>(view.upper)];
  }
  mouse_at = PanelPlace::Count;
}

template <class Panel>
void Workspace::State::draw_panel(Frame& frame, PanelPlace place, Panel& panel) {
  const bool has_mouse = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (has_mouse) mouse_at = place;
  view.hovered = has_mouse ? model::Selection{} : hovered_before;
  const bool told = std::exchange(reveal[static_cast<std::size_t>(place)], false);
  view.reveal_selection = told;
  view.fit = fit_at == place;
  const model::Selection before = view.selection;
  panel.draw(frame);
  if (has_mouse) hovered_next = view.hovered;
  if (!(view.selection == before) || (view.reveal_selection && !told)) {
    const bool was = std::exchange(reveal[static_cast<std::size_t>(place)], false);
    reveal.fill(true);
    reveal[static_cast<std::size_t>(place)] = was;  // it knows where it is
  }
  view.reveal_selection = false;
  view.fit = false;
}

void Workspace::State::end_turns() { view.hovered = hovered_next; }

}  // namespace reprise::viewer

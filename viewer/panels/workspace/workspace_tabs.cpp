// Workspace: tabs, the panels in them, and requests between panels.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/widgets/region.hpp"
#include "panels/widgets/tabs.hpp"
#include "panels/workspace/workspace_state.hpp"

namespace reprise::viewer {

namespace {

struct ProblemCounts {
  std::size_t problems = 0, errors = 0;  // problems: losses, warnings and errors
};

// Counts losses, and problems among the last messages.
ProblemCounts count_problems(const model::Document& document) {
  constexpr std::size_t kMaxMessages = 1000;
  ProblemCounts counts{document.losses.size(), 0};
  const std::size_t all = document.messages.size();
  for (std::size_t i = all > kMaxMessages ? all - kMaxMessages : 0; i < all; ++i) {
    const trace::Severity severity = document.messages[i].severity;
    counts.problems += severity != trace::Severity::Info ? 1 : 0;
    counts.errors += severity == trace::Severity::Error ? 1 : 0;
  }
  return counts;
}

}  // namespace

void Workspace::State::draw_single(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "all tabs", min, {max.x, tabs_end});
  std::vector<Tab> tabs = upper_tabs();
  const std::size_t upper_count = tabs.size();
  for (Tab& tab : lower_tabs(theme)) tabs.push_back(std::move(tab));
  const std::size_t upper_now =
      shows_inspector ? upper_count - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t now =
      shows_lower ? upper_count + static_cast<std::size_t>(view.lower) : upper_now;
  const std::size_t chosen = draw_tabs(theme, "tabs", tabs, now, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  if (chosen != now) {
    shows_lower = chosen >= upper_count;
    shows_inspector = chosen == upper_count - 1;
    if (shows_lower) view.lower = static_cast<LowerTab>(chosen - upper_count);
    if (chosen + 1 < upper_count) view.upper = static_cast<UpperTab>(chosen);
  }
  const UpperTab upper_before = view.upper;
  const LowerTab lower_before = view.lower;
  const bool scrolls = shows_lower || shows_inspector || view.upper == UpperTab::Sync;
  begin_region(theme, "one", {min.x, tabs_end}, max, scrolls ? Scrolls::Itself : Scrolls::No);
  if (shows_lower) {
    draw_lower_panel(context);
  } else {
    draw_upper_panel(context);
  }
  ImGui::EndChild();
  if (view.upper != upper_before)
    shows_lower = shows_inspector = false;  // the panel changed the tab
  if (view.lower != lower_before) shows_lower = true;
}

// The last tab is the inspector, which only narrow and low windows show.
std::vector<Tab> Workspace::State::upper_tabs() {
  return {{"Graph", "Nodes and dependencies (1)", {}, 0},
          {"Timeline", "Nodes of one replay over time (2)", {}, 0},
          {"Sync", "Barriers, edges and their cost (3)", {}, 0},
          {"Inspector", "Details of the selection", {}, 0}};
}

std::vector<Tab> Workspace::State::lower_tabs(const Theme& theme) const {
  std::vector<Tab> tabs = {
      {"Nodes", "Node statistics (4)", {}, 0},
      {"Memory", "Slab layout, live bytes and pools (5)", {}, 0},
      {"Compare", "Compare two ranges of replays, or two traces (6)", {}, 0},
      {"Messages", "Validation findings, graph updates and losses (7)", {}, 0}};
  const ProblemCounts counts = count_problems(*document);
  if (counts.problems == 0) return tabs;
  tabs[3].badge = counts.problems > 999 ? "999+" : std::to_string(counts.problems);
  tabs[3].badge_colour = counts.errors > 0 ? theme.error : theme.warning;
  return tabs;
}

void Workspace::State::draw_upper(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const bool is_narrow = ImGui::GetMainViewport()->Size.x < kNarrow * theme.scale;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "upper tabs", min, {max.x, tabs_end});
  const std::vector<Tab> tabs = upper_tabs();
  const std::size_t count = tabs.size() - (is_narrow ? 0 : 1);
  if (!is_narrow) shows_inspector = false;
  const std::size_t now = shows_inspector ? tabs.size() - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t chosen =
      draw_tabs(theme, "tabs", {tabs.data(), count}, now, ImGui::GetContentRegionAvail().x);
  if (chosen != now) {
    shows_inspector = chosen == tabs.size() - 1;
    if (!shows_inspector) view.upper = static_cast<UpperTab>(chosen);
  }
  ImGui::EndChild();
  const bool scrolls = shows_inspector || view.upper == UpperTab::Sync;
  begin_region(theme, "upper", {min.x, tabs_end}, max, scrolls ? Scrolls::Itself : Scrolls::No);
  draw_upper_panel(context);
  ImGui::EndChild();
}

void Workspace::State::draw_upper_panel(PanelContext& context) {
  constexpr std::array<PanelId, 3> kPanels = {PanelId::Graph, PanelId::Timeline, PanelId::Sync};
  if (!shows_inspector) return draw_panel(context, kPanels[static_cast<std::size_t>(view.upper)]);
  const UpperTab before = view.upper;
  draw_panel(context, PanelId::Inspector);
  if (view.upper != before) shows_inspector = false;  // the inspector changed the tab
}

void Workspace::State::draw_inspector(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const bool has_note =
      notes && Notes::can_have_one(view.selection) && max.y - min.y > 4 * NoteBar::height(theme);
  const float end = has_note ? max.y - NoteBar::height(theme) : max.y;
  begin_region(theme, "inspector", min, {max.x, end}, Scrolls::Itself);
  draw_panel(context, PanelId::Inspector);
  ImGui::EndChild();
  if (!has_note) return;
  begin_bar(theme, "note", {min.x, end}, max);
  if (Notes::can_have_one(view.selection))  // the inspector may have changed the selection
    note_bar.draw(context, *notes);
  ImGui::EndChild();
}

void Workspace::State::draw_lower(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "lower tabs", min, {max.x, tabs_end});
  const std::vector<Tab> tabs = lower_tabs(theme);
  const auto chosen = draw_tabs(theme, "tabs", tabs, static_cast<std::size_t>(view.lower),
                                ImGui::GetContentRegionAvail().x);
  view.lower = static_cast<LowerTab>(chosen);
  ImGui::EndChild();
  begin_region(theme, "lower", {min.x, tabs_end}, max, Scrolls::Itself);
  draw_lower_panel(context);
  ImGui::EndChild();
}

void Workspace::State::draw_lower_panel(PanelContext& context) {
  constexpr std::array<PanelId, 4> kPanels = {PanelId::Nodes, PanelId::Memory, PanelId::Compare,
                                              PanelId::Messages};
  draw_panel(context, kPanels[static_cast<std::size_t>(view.lower)]);
}

void Workspace::State::draw_contents(PanelContext& context, PanelId id) {
  switch (id) {
    case PanelId::Strip: return replays.draw(context);
    case PanelId::Graph: return graph.draw(context);
    case PanelId::Timeline: return timeline.draw(context);
    case PanelId::Sync: return sync.draw(context);
    case PanelId::Inspector: return inspector.draw(context);
    case PanelId::Nodes: return nodes.draw(context);
    case PanelId::Memory: return memory.draw(context);
    case PanelId::Compare: return compare.draw(context);
    case PanelId::Messages: return messages.draw(context);
    case PanelId::Count: return;
  }
}

// Distributes the requests of the last frame: each panel reveals the selection once, the next time
// it is drawn; all panels receive the hovered item of the panel under the mouse.
void Workspace::State::begin_panels() {
  if (std::exchange(view.reveal_selection, false)) reveal.fill(true);
  hovered_before = view.hovered;
  hovered_next = {};
  fit_panel = PanelId::Count;
  if (std::exchange(view.fit, false)) {
    constexpr std::array<PanelId, 3> kUpper = {PanelId::Graph, PanelId::Timeline, PanelId::Sync};
    fit_panel =
        mouse_panel != PanelId::Count ? mouse_panel : kUpper[static_cast<std::size_t>(view.upper)];
  }
  mouse_panel = PanelId::Count;
}

void Workspace::State::draw_panel(PanelContext& context, PanelId id) {
  bool& reveal_pending = reveal[static_cast<std::size_t>(id)];
  const bool has_mouse = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                                                ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (has_mouse) mouse_panel = id;
  view.hovered = has_mouse ? model::Selection{} : hovered_before;
  const bool was_requested = std::exchange(reveal_pending, false);
  view.reveal_selection = was_requested;
  view.fit = fit_panel == id;
  const model::Selection before = view.selection;
  draw_contents(context, id);
  if (has_mouse) hovered_next = view.hovered;
  // A new selection is revealed in all panels except the one that made it.
  if (!(view.selection == before) || (view.reveal_selection && !was_requested)) {
    const bool was_pending = reveal_pending;
    reveal.fill(true);
    reveal_pending = was_pending;
  }
  view.reveal_selection = false;
  view.fit = false;
}

void Workspace::State::end_panels() { view.hovered = hovered_next; }

}  // namespace reprise::viewer

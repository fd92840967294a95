// The tabs of a Workspace, the panels in them, and what panels tell each other.
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

void Workspace::State::draw_one(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "all tabs", min, {max.x, tabs_end});
  std::vector<Tab> tabs = upper_tabs();
  const std::size_t upper_count = tabs.size();
  for (Tab& tab : lower_tabs(theme)) tabs.push_back(std::move(tab));
  const std::size_t upper_now =
      inspector_above ? upper_count - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t now =
      lower_alone ? upper_count + static_cast<std::size_t>(view.lower) : upper_now;
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
    draw_lower_panel(context);
  } else {
    draw_upper_panel(context);
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
  std::vector<Tab> tabs = {
      {"Nodes", "Every node with its figures (4)", {}, 0},
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

void Workspace::State::draw_upper(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const bool is_narrow = ImGui::GetMainViewport()->Size.x < kNarrow * theme.scale;
  const float tabs_end = min.y + tab_height(theme);
  begin_bar(theme, "upper tabs", min, {max.x, tabs_end});
  const std::vector<Tab> tabs = upper_tabs();
  const std::size_t count = tabs.size() - (is_narrow ? 0 : 1);
  if (!is_narrow) inspector_above = false;
  const std::size_t now = inspector_above ? tabs.size() - 1 : static_cast<std::size_t>(view.upper);
  const std::size_t chosen =
      draw_tabs(theme, "tabs", {tabs.data(), count}, now, ImGui::GetContentRegionAvail().x);
  if (chosen != now) {
    inspector_above = chosen == tabs.size() - 1;
    if (!inspector_above) view.upper = static_cast<UpperTab>(chosen);
  }
  ImGui::EndChild();
  const bool scrolls = inspector_above || view.upper == UpperTab::Sync;
  begin_region(theme, "upper", {min.x, tabs_end}, max, scrolls ? Scrolls::Itself : Scrolls::No);
  draw_upper_panel(context);
  ImGui::EndChild();
}

void Workspace::State::draw_upper_panel(PanelContext& context) {
  constexpr std::array<PanelPlace, 3> kPlaces = {PanelPlace::Graph, PanelPlace::Timeline,
                                                 PanelPlace::Sync};
  if (!inspector_above) return draw_panel(context, kPlaces[static_cast<std::size_t>(view.upper)]);
  const UpperTab before = view.upper;
  draw_panel(context, PanelPlace::Inspector);
  if (view.upper != before) inspector_above = false;  // it sends there
}

void Workspace::State::draw_inspector(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const bool has_note =
      notes && Notes::can_have_one(view.selection) && max.y - min.y > 4 * NoteBar::height(theme);
  const float end = has_note ? max.y - NoteBar::height(theme) : max.y;
  begin_region(theme, "inspector", min, {max.x, end}, Scrolls::Itself);
  draw_panel(context, PanelPlace::Inspector);
  ImGui::EndChild();
  if (!has_note) return;
  begin_bar(theme, "note", {min.x, end}, max);
  if (Notes::can_have_one(view.selection))
    note_bar.draw(context, *notes);  // the inspector may have selected something else
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
  constexpr std::array<PanelPlace, 4> kPlaces = {PanelPlace::Nodes, PanelPlace::Memory,
                                                 PanelPlace::Compare, PanelPlace::Messages};
  draw_panel(context, kPlaces[static_cast<std::size_t>(view.lower)]);
}

void Workspace::State::draw_contents(PanelContext& context, PanelPlace place) {
  switch (place) {
    case PanelPlace::Strip: return replays.draw(context);
    case PanelPlace::Graph: return graph.draw(context);
    case PanelPlace::Timeline: return timeline.draw(context);
    case PanelPlace::Sync: return sync.draw(context);
    case PanelPlace::Inspector: return inspector.draw(context);
    case PanelPlace::Nodes: return nodes.draw(context);
    case PanelPlace::Memory: return memory.draw(context);
    case PanelPlace::Compare: return compare.draw(context);
    case PanelPlace::Messages: return messages.draw(context);
    case PanelPlace::Count: return;
  }
}

// What a panel said in the last frame is for all panels of this one: each is told once to reveal
// the selection, as soon as it is drawn; what the mouse is on is told to all by the one that it is
// on.
void Workspace::State::begin_turns() {
  if (std::exchange(view.reveal_selection, false)) reveal.fill(true);
  hovered_before = view.hovered;
  hovered_next = {};
  fit_at = PanelPlace::Count;
  if (std::exchange(view.fit, false)) {
    constexpr std::array<PanelPlace, 3> kUpper = {PanelPlace::Graph, PanelPlace::Timeline,
                                                  PanelPlace::Sync};
    fit_at =
        mouse_at != PanelPlace::Count ? mouse_at : kUpper[static_cast<std::size_t>(view.upper)];
  }
  mouse_at = PanelPlace::Count;
}

void Workspace::State::draw_panel(PanelContext& context, PanelPlace place) {
  const bool has_mouse = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                                                ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (has_mouse) mouse_at = place;
  view.hovered = has_mouse ? model::Selection{} : hovered_before;
  const bool told = std::exchange(reveal[static_cast<std::size_t>(place)], false);
  view.reveal_selection = told;
  view.fit = fit_at == place;
  const model::Selection before = view.selection;
  draw_contents(context, place);
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

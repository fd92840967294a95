// Workspace: tabs, the panels in them, and requests between panels.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/ranks/ranks_view_model.hpp"
#include "panels/widgets/icons.hpp"
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

Tab Workspace::State::tab_of(const Theme& theme, std::size_t index) const {
  const ViewDesc& desc = kViews[index];
  Tab tab{desc.title, desc.hint, {}, 0};
  if (const auto digit = view_digit(index)) tab.hint += std::string(" (") + *digit + ")";
  tab.hint += view.fills_window ? "\nDouble-click: beside the other views"
                                : "\nDouble-click: fill the window";
  if (desc.view != View::Messages) return tab;
  const ProblemCounts counts = count_problems(*document);
  if (counts.problems == 0) return tab;
  tab.badge = counts.problems > 999 ? "999+" : std::to_string(counts.problems);
  tab.badge_colour = counts.errors > 0 ? theme.error : theme.warning;
  return tab;
}

View Workspace::State::draw_tab_bar(const Theme& theme, TabRows rows, InspectorTab inspector_tab,
                                    ImVec2 min, ImVec2 max) {
  View& selected = rows == TabRows::Both    ? view.front
                   : rows == TabRows::Upper ? view.upper
                                            : view.lower;
  std::vector<View> views;
  std::vector<Tab> tabs;
  for (std::size_t i = 0; i < std::size(kViews); ++i) {
    const bool is_upper = kViews[i].row == TabRow::Upper;
    if (rows == (is_upper ? TabRows::Lower : TabRows::Upper)) continue;
    // Most traces have no collectives; the tab then needs no space.
    if (kViews[i].view == View::Ranks && selected != View::Ranks && !has_collectives(*document))
      continue;
    views.push_back(kViews[i].view);
    tabs.push_back(tab_of(theme, i));
  }
  if (inspector_tab == InspectorTab::Yes) {
    views.push_back(View::Inspector);
    tabs.push_back({"Inspector", "Details of the selection", {}, 0});
  }
  auto found = std::find(views.begin(), views.end(), selected);
  if (found == views.end()) {  // the inspector, after the window became wider
    found = views.begin();
    selected = *found;
  }
  const auto before = static_cast<std::size_t>(found - views.begin());
  ImGui::PushID(rows == TabRows::Lower ? "lower" : "upper");
  begin_bar(theme, "tab bar", min, max);
  const float button = ImGui::GetFrameHeight();
  const TabChoice tab =
      draw_tabs(theme, "tabs", tabs, before, ImGui::GetContentRegionAvail().x - button);
  if (tab.chosen != before) view.show(views[tab.chosen]);
  ImGui::SetCursorScreenPos(
      {max.x - button - theme.half_space, std::round((min.y + max.y - button) / 2)});
  const bool is_clicked =
      icon_button(theme, "fill", Icon::Fill,
                  view.fills_window ? "Show the view beside the others" : "Fill the window",
                  view.fills_window ? IconState::Active : IconState::Normal);
  if (is_clicked || tab.is_double_clicked) {
    view.show(selected);
    view.fills_window = !view.fills_window;
  }
  ImGui::EndChild();
  ImGui::PopID();
  return selected;
}

void Workspace::State::draw_view(PanelContext& context, View id, const char* region, ImVec2 min,
                                 ImVec2 max) {
  if (id == View::Inspector) return draw_inspector(context, min, max);
  const bool draws_itself = id == View::Graph || id == View::Replays || id == View::Timeline;
  begin_region(context.theme, region, min, max, draws_itself ? Scrolls::No : Scrolls::Itself);
  draw_panel(context, id);
  ImGui::EndChild();
}

void Workspace::State::draw_inspector(PanelContext& context, ImVec2 min, ImVec2 max) {
  const Theme& theme = context.theme;
  const bool has_note =
      notes && Notes::can_have_one(view.selection) && max.y - min.y > 4 * NoteBar::height(theme);
  const float end = has_note ? max.y - NoteBar::height(theme) : max.y;
  begin_region(theme, "inspector", min, {max.x, end}, Scrolls::Itself);
  draw_panel(context, View::Inspector);
  ImGui::EndChild();
  if (!has_note) return;
  begin_bar(theme, "note", {min.x, end}, max);
  if (Notes::can_have_one(view.selection))  // the inspector may have changed the selection
    note_bar.draw(context, *notes);
  ImGui::EndChild();
}

void Workspace::State::draw_contents(PanelContext& context, View id) {
  switch (id) {
    case View::Strip: return replays.draw_strip(context);
    case View::Graph: return graph.draw(context);
    case View::Replays: return replays.draw(context);
    case View::Timeline: return timeline.draw(context);
    case View::Sync: return sync.draw(context);
    case View::Inspector: return inspector.draw(context);
    case View::Nodes: return nodes.draw(context);
    case View::Memory: return memory.draw(context);
    case View::Compare: return compare.draw(context);
    case View::Messages: return messages.draw(context);
    case View::Graphs: return graphs.draw(context);
    case View::Ranks: return ranks.draw(context);
    case View::Count: return;
  }
}

// Distributes the requests of the last frame: each panel reveals the selection once, the next time
// it is drawn; all panels receive the hovered item of the panel under the mouse.
void Workspace::State::begin_panels() {
  if (std::exchange(view.reveal_selection, false)) reveal.fill(true);
  hovered_before = view.hovered;
  hovered_next = {};
  fit_panel = View::Count;
  if (std::exchange(view.fit, false))
    fit_panel = mouse_panel != View::Count ? mouse_panel : view.upper;
  mouse_panel = View::Count;
}

void Workspace::State::draw_panel(PanelContext& context, View id) {
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

#include "panels/timeline/timeline_toolbar.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/toolbar.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

float width_of(const std::string& text) {
  return ImGui::CalcTextSize(text.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
}

bool button(Toolbar& bar, const char* text, const char* explanation) {
  if (!bar.place(width_of(text))) return false;
  const bool pressed = ImGui::Button(text);
  tooltip(explanation);
  return pressed;
}

void draw_gap_toggle(const Theme& theme, Toolbar& bar, model::GapKind kind, double time, double all,
                     bool& is_on) {
  const std::string text =
      gap_name(kind) + (all > 0 ? "  " + percent_text(time / all) : std::string());
  if (!bar.place(width_of(text) + 16 * theme.scale)) return;
  const char* reason =
      "All predecessors were complete, but the next node had not started: launch, scheduler or "
      "device delay.";
  if (kind == model::GapKind::Predecessor)
    reason = "The next node waited for an unfinished predecessor.";
  if (kind == model::GapKind::FalseDependency)
    reason = "The next node waited only because of an edge added by lowering (lane, entry/exit).";
  const std::string explanation =
      std::string(reason) + " Percentages are relative to the total row time.";
  if (draw_toggle(theme, gap_name(kind),
                  {.text = text,
                   .explanation = explanation,
                   .colour = gap_colour(theme, kind),
                   .is_on = is_on}))
    is_on = !is_on;
}

}  // namespace

TimelineAction draw_timeline_toolbar(PanelContext& context, const TimelineScene* scene,
                                     TimelineFit fitted, TimelineOptions& options) {
  TimelineAction action;
  const Theme& theme = context.theme;
  if (ImGui::Button("<")) action.go = ReplayChoice::Previous;
  tooltip("Previous sampled replay (Left).");
  ImGui::SameLine(0, theme.half_space);
  if (ImGui::Button(">")) action.go = ReplayChoice::Next;
  tooltip("Next sampled replay (Right).");
  ImGui::SameLine(0, theme.space);
  ImGui::AlignTextToFramePadding();
  if (context.replay != nullptr) {
    const trace::Time time =
        model::measure(context.replay->replay, model::ReplayMeasure::DeviceTime);
    const std::string text =
        "replay " + count_text(context.replay->replay.replay) +
        (time < 0 ? ", no timing" : ", " + duration_text(static_cast<double>(time)));
    ImGui::TextUnformatted(text.c_str());
  } else {
    ImGui::TextUnformatted("no replay");
  }
  Toolbar bar(theme, "timeline toolbar");
  action.newest =
      button(bar, "Newest", "Newest sampled replay; in a live session, follows new replays.");
  if (button(bar, "Median", "Sampled replay with the median device time of the selected range."))
    action.go = ReplayChoice::Median;
  if (button(bar, "Slowest", "Slowest sampled replay of the selected range."))
    action.go = ReplayChoice::Slowest;

  const std::array<std::pair<TimelineFit, ToggleDesc>, 2> fits = {
      {{TimelineFit::Recording,
        {.text = "Recording",
         .explanation = "Fits the whole recording to the view (Home, twice)."}},
       {TimelineFit::Replay,
        {.text = "Replay", .explanation = "Fits the shown replay to the view (Home)."}}}};
  for (auto [fit, desc] : fits) {
    if (!bar.place(width_of(desc.text))) continue;
    desc.is_on = fitted == fit;
    if (draw_toggle(theme, desc.text.c_str(), desc)) action.fit = fit;
  }
  const std::array<ChoiceItem, 3> orders = {
      ChoiceItem{"name", "Rows of a section by name."},
      ChoiceItem{"busy",
                 "Rows of a section by busy time in the recording, the longest first; lanes "
                 "and workers by that in the shown replay."},
      ChoiceItem{"first use", "Rows of a section by the time of their first use."}};
  const std::array<ChoiceItem, 2> rows = {
      ChoiceItem{"lanes",
                 "One row per lane of the plan; overlapping nodes of a lane use extra rows."},
      ChoiceItem{"workers", "One row per worker, stream or multiprocessor."}};
  if (bar.place(width_of("lanesworkers") + 4 * theme.space)) {
    const int chosen = draw_choice(theme, "rows", rows, options.by == model::RowsBy::Lane ? 0 : 1);
    const auto by = chosen == 0 ? model::RowsBy::Lane : model::RowsBy::Worker;
    options.is_by_chosen = options.is_by_chosen || by != options.by;
    options.by = by;
  }
  if (bar.place(width_of("namebusyfirst use") + 6 * theme.space)) {
    options.order =
        static_cast<RowOrder>(draw_choice(theme, "order", orders, static_cast<int>(options.order)));
  }
  if (bar.place(width_of("gap list"))) {
    const ToggleDesc list{.text = "gap list",
                          .explanation = "Lists the longest gaps in view with their causes.",
                          .is_on = options.gap_list};
    if (draw_toggle(theme, "gap list", list)) options.gap_list = !options.gap_list;
  }
  if (scene == nullptr) return action;
  GapSums sums = sum_of(scene->gaps);
  const auto all = static_cast<double>(scene->times.ended - scene->times.started) *
                   static_cast<double>(scene->rows.rows.size());
  draw_gap_toggle(theme, bar, model::GapKind::Predecessor, sums.predecessor, all,
                  options.predecessor);
  draw_gap_toggle(theme, bar, model::GapKind::FalseDependency, sums.false_dependency, all,
                  options.false_dependency);
  draw_gap_toggle(theme, bar, model::GapKind::LaunchBubble, sums.bubble, all, options.bubble);
  const bool is_all = is_all_critical(context);
  const std::string path = is_all ? "critical path: every node" : "critical path";
  if (bar.place(width_of(path) + 16 * theme.scale)) {
    const ToggleDesc critical{.text = path,
                              .explanation =
                                  "Measured critical path of this replay: each node with the "
                                  "predecessor that ended last (C). A path through all nodes is "
                                  "not marked.",
                              .colour = theme.critical,
                              .is_on = context.view.critical_path && !is_all};
    if (draw_toggle(theme, "critical", critical))
      context.view.critical_path = !context.view.critical_path;
  }
  if (bar.place(width_of("Colour") + 132 * theme.scale)) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("Colour");
    ImGui::SameLine(0, theme.space);
    draw_colour_combo(context);
  }
  return action;
}

}  // namespace reprise::viewer

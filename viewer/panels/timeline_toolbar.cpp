#include "panels/timeline_toolbar.hpp"

#include <algorithm>
#include <array>

#include "panels/choice.hpp"
#include "panels/format.hpp"
#include "panels/timeline_nodes.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

// True if an item so wide still stands on this line.
bool fits_on_line(const Theme& theme, float width) {
  ImGui::SameLine(0, theme.space);
  if (ImGui::GetContentRegionAvail().x >= width) return true;
  ImGui::NewLine();
  return false;
}

float width_of(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x; }

bool button(const Theme& theme, const char* text, const char* explanation) {
  if (!fits_on_line(theme, width_of(text))) ImGui::SameLine(0, 0);
  const bool pressed = ImGui::Button(text);
  tooltip(explanation);
  return pressed;
}

void draw_gap_toggle(const Theme& theme, model::GapKind kind, double time, double all, bool& is_on) {
  const std::string text = gap_name(kind) + (all > 0 ? "  " + percent_text(time / all) : std::string());
  if (!fits_on_line(theme, width_of(text) + 16 * theme.scale)) return;
  const char* why = "The row could have run the next node, and did not: the launch, the scheduler, or the device was late.";
  if (kind == model::GapKind::Predecessor) why = "The next node of the row needed what another node had not finished.";
  if (kind == model::GapKind::FalseDependency)
    why = "Only the order of a lane or of the frame kept the next node from running: it needed nothing of what it waited for.";
  const std::string explanation = std::string(why) + " The part is of the time of all rows.";
  if (draw_toggle(theme, gap_name(kind), {.text = text, .explanation = explanation, .colour = gap_colour(theme, kind), .is_on = is_on}))
    is_on = !is_on;
}

}  // namespace

TimelineAction draw_timeline_toolbar(Frame& frame, const TimelineScene* scene, TimelineOptions& options) {
  TimelineAction action;
  const Theme& theme = frame.theme;
  if (ImGui::Button("<")) action.go = ReplayChoice::Previous;
  tooltip("The sampled replay before this one (Left).");
  ImGui::SameLine(0, theme.half_space);
  if (ImGui::Button(">")) action.go = ReplayChoice::Next;
  tooltip("The sampled replay after this one (Right).");
  ImGui::SameLine(0, theme.space);
  ImGui::AlignTextToFramePadding();
  if (frame.replay != nullptr) {
    const trace::Time time = model::measure(frame.replay->replay, model::ReplayMeasure::DeviceTime);
    const std::string text =
        "replay " + count_text(frame.replay->replay.replay) + (time < 0 ? ", no time" : ", " + duration_text(static_cast<double>(time)));
    ImGui::TextUnformatted(text.c_str());
  } else {
    ImGui::TextUnformatted("no replay");
  }
  action.newest = button(theme, "Newest", "The newest replay that was sampled; live, it goes on with the newest.");
  if (button(theme, "Median", "The sampled replay whose device time is the median of the chosen range.")) action.go = ReplayChoice::Median;
  if (button(theme, "Slowest", "The slowest sampled replay of the chosen range.")) action.go = ReplayChoice::Slowest;

  const std::array<ChoiceItem, 2> rows = {ChoiceItem{"lanes", "A row for each lane that the plan put nodes in; more where nodes of one overlapped."},
                                          ChoiceItem{"workers", "A row for each worker or stream that ran nodes."}};
  if (fits_on_line(theme, width_of("lanesworkers") + 4 * theme.space)) {
    const int chosen = draw_choice(theme, "rows", rows, options.by == model::RowsBy::Lane ? 0 : 1);
    const auto by = chosen == 0 ? model::RowsBy::Lane : model::RowsBy::Worker;
    options.is_by_chosen = options.is_by_chosen || by != options.by;
    options.by = by;
  }
  if (scene == nullptr) return action;
  GapSums sums = sum_of(scene->gaps);
  const auto all = static_cast<double>(scene->times.ended - scene->times.began) * static_cast<double>(scene->rows.rows.size());
  draw_gap_toggle(theme, model::GapKind::Predecessor, sums.predecessor, all, options.predecessor);
  draw_gap_toggle(theme, model::GapKind::FalseDependency, sums.false_dependency, all, options.false_dependency);
  draw_gap_toggle(theme, model::GapKind::LaunchBubble, sums.bubble, all, options.bubble);
  if (fits_on_line(theme, width_of("critical path") + 16 * theme.scale)) {
    const ToggleDesc critical{
        .text = "critical path",
        .explanation = "The chain of nodes that decided how long this replay took, each with the predecessor that ended last (C).",
        .colour = theme.critical,
        .is_on = frame.view.critical_path};
    if (draw_toggle(theme, "critical", critical)) frame.view.critical_path = !frame.view.critical_path;
  }
  return action;
}

}  // namespace reprise::viewer

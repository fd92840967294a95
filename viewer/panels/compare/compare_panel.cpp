#include "panels/compare/compare_panel.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <imgui.h>

#include "panels/compare/compare_choice.hpp"
#include "panels/compare/compare_table.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

struct ComparePanel::State {
  explicit State(Background& background) : compared(background) {}

  struct Key {
    CompareSection a, b;
    std::uint64_t revision_a = 0, revision_b = 0;  // revisions of the documents
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Compared {
    CompareSection a, b;
    std::shared_ptr<const model::GraphComparison> result;
  };

  CompareChoice chosen;        // empty sides use the default
  model::GraphKey chosen_for;  // the graph shown at that time
  AsyncValue<Key, Compared> compared;
  std::optional<Key> requested;
  double requested_at = 0;
  CompareTable table;
};

ComparePanel::ComparePanel(Background& background) : state_(std::make_unique<State>(background)) {}
ComparePanel::~ComparePanel() = default;

namespace {

// Draws a letter on a coloured square.
void draw_letter(const Theme& theme, const char* letter, ImU32 colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetTextLineHeight();
  const ImVec2 text = ImGui::CalcTextSize(letter);
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size, at.y + size}, colour, theme.radius);
  ImGui::SetCursorScreenPos({at.x + (size - text.x) / 2, at.y});
  ImGui::PushStyleColor(ImGuiCol_Text, ink_on(colour));
  ImGui::TextUnformatted(letter);
  ImGui::PopStyleColor();
  ImGui::SameLine(0, 0);
  ImGui::SetCursorScreenPos({at.x + size + theme.space, at.y});
}

void draw_side(const PanelContext& context, const char* letter,
               const std::optional<CompareSection>& side) {
  draw_letter(context.theme, letter, with_alpha(context.theme.ink_soft, 1));
  ImGui::PushStyleColor(ImGuiCol_Text, side ? context.theme.ink : context.theme.ink_faint);
  ImGui::TextUnformatted(side ? section_text(context, *side).c_str() : "not selected");
  ImGui::PopStyleColor();
}

bool draw_button(const Theme& theme, const char* text, const char* explanation, bool is_enabled) {
  if (!is_enabled) ImGui::BeginDisabled();
  const bool clicked = draw_action(theme, text);
  if (!is_enabled) ImGui::EndDisabled();
  tooltip(explanation);
  ImGui::SameLine(0, theme.half_space * 1.5f);
  return clicked && is_enabled;
}

void draw_buttons(const PanelContext& context, CompareChoice& chosen, const CompareChoice& sides) {
  const Theme& theme = context.theme;
  const char* range_hint = context.view.has_range()
                               ? "Uses the replays selected in the replay strip"
                               : "Uses all replays. Drag in the replay strip to select a range.";
  if (draw_button(theme, "Set A to selection", range_hint, !context.entry->replays.empty()))
    chosen.a = selected_section(context);
  if (draw_button(theme, "Set B to selection", range_hint, !context.entry->replays.empty()))
    chosen.b = selected_section(context);
  if (const auto both = halves_of(context); draw_button(
          theme, "First half | second half",
          "Compares the halves of the selected replays to detect a drift", both.has_value()))
    chosen = *both;
  if (const auto both = with_rest_of(context);
      both && draw_button(theme, "Rest | selected durations",
                          "Compares the replays with the selected durations with the others", true))
    chosen = *both;
  if (const auto both = versions_of(context);
      both && draw_button(theme, "Previous version | this version",
                          "Compares the shown version of the graph with the previous one", true))
    chosen = *both;
  if (draw_button(theme, "Swap", "Swaps A and B", sides.a && sides.b)) chosen = {sides.b, sides.a};
  if (context.other && (chosen.a || chosen.b) &&
      draw_button(theme, "Whole traces", "Compares all replays of both traces", true))
    chosen = {};
  if (!context.other && (chosen.a || chosen.b) &&
      draw_button(theme, "Clear", "Clears both sides", true))
    chosen = {};
  ImGui::NewLine();
}

// "Device time: A 26.1 us, B 30.4 us, +16.5 %, slower".
std::string times_text(const char* label, const model::ComparedTimes& times) {
  if (!times.is_known()) return {};
  return std::string(label) + ": A " + duration_text(times.median_a) + ", B " +
         duration_text(times.median_b) + ", " + change_text(times.change) + ", " +
         verdict_name(times.verdict);
}

std::string signed_text(double ns) { return (ns > 0 ? "+" : "") + duration_text(ns); }

// "Mean replay +4.30 us: nodes and gaps +4.20 us, outside nodes +100 ns"; empty without samples.
std::string mean_text(const model::GraphComparison& result) {
  const model::Contributions &a = result.contributions_a, &b = result.contributions_b;
  if (a.replays == 0 || b.replays == 0) return {};
  const double difference = b.time - a.time, outside = result.effect_outside();
  return "Mean replay " + signed_text(difference) + ": nodes and gaps " +
         signed_text(difference - outside) + ", outside nodes " + signed_text(outside);
}

void draw_legend_mark(const Theme& theme, ImU32 colour, const std::string& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), size = std::round(line * 0.62f),
              top = at.y + (line - size) / 2;
  if (colour != 0) {
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, colour, 2);
    ImGui::Dummy({size, line});
    ImGui::SameLine(0, theme.half_space);
  }
  ImGui::TextUnformatted(text.c_str());
  ImGui::SameLine(0, theme.space * 2);
}

void draw_summary(const Theme& theme, const model::GraphComparison& result) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  bool is_first = true;
  for (const std::string& part : {times_text("Device time", result.device_time),
                                  times_text("launch call", result.launch_call),
                                  times_text("launch-to-start latency", result.launch_latency)}) {
    if (part.empty()) continue;
    if (!is_first) {
      ImGui::SameLine(0, 3 * theme.space);
      if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(part.c_str()).x) ImGui::NewLine();
    }
    is_first = false;
    ImGui::TextUnformatted(part.c_str());
  }
  if (is_first) ImGui::TextUnformatted("At least one side has no times of replays.");
  tooltip("Medians. Device time: " + verdict_reason(result.device_time, 1) + ".");
  if (const std::string mean = mean_text(result); !mean.empty()) {
    ImGui::TextUnformatted((mean + ".").c_str());
    tooltip(
        "The effects of all nodes, with the gaps before them, and the time before the first "
        "node and after the last add up to the difference of the mean device times.");
  }
  draw_legend_mark(
      theme, slower_colour(theme),
      count_text(result.slower) + (result.slower == 1 ? " node slower" : " nodes slower"));
  draw_legend_mark(theme, faster_colour(theme), count_text(result.faster) + " faster");
  draw_legend_mark(theme, 0, count_text(result.added) + " only in B");
  draw_legend_mark(theme, 0, count_text(result.removed) + " only in A");
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted((count_text(result.contributions_a.replays) + " and " +
                          count_text(result.contributions_b.replays) +
                          " sampled replays; hollow bars: not statistically significant")
                             .c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor(2);
}

void draw_missing_side(const PanelContext& context, const CompareChoice& sides) {
  if (context.other && !sides.b) {
    draw_empty(context.theme, "The other trace has no graph named " + context.graph()->name(),
               "Graphs are matched by name. Show another graph, or compare two sections of this "
               "trace with the buttons above.");
  } else if (sides.a || sides.b) {
    draw_empty(context.theme, sides.a ? "B is not selected" : "A is not selected",
               "Drag in the replay strip to select replays, then use them as the other side.");
  } else {
    draw_empty(
        context.theme, "Select two sides to compare",
        "Two ranges of replays: drag in the strip of replays, and set A and B to the selection.\n"
        "Two graphs: right-click them in Graphs.\n"
        "Two traces: drop both files on the window, or run reprise view with both.");
  }
}

}  // namespace

void ComparePanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.graph() == nullptr) {
    draw_empty(theme, "No graph yet",
               "Sections of replays, graph versions and traces can be compared when the trace "
               "contains a graph.");
    return;
  }
  State& state = *state_;
  const model::GraphKey shown = context.graph()->key();
  if (state.chosen_for != shown) {
    const auto is_here = [&](const std::optional<CompareSection>& side) {
      return side && side->trace == CompareTrace::Shown && side->graph == shown;
    };
    // One side alone waits for the other, which may be of another graph.
    const bool is_complete = state.chosen.a && state.chosen.b;
    if ((is_complete || context.other) && !is_here(state.chosen.a) && !is_here(state.chosen.b))
      state.chosen = {};
    state.chosen_for = shown;
  }
  if (const auto a = std::exchange(context.view.compare_a, std::nullopt))
    state.chosen.a = CompareSection{CompareTrace::Shown, *a, {}};
  if (const auto b = std::exchange(context.view.compare_b, std::nullopt))
    state.chosen.b = CompareSection{CompareTrace::Shown, *b, {}};
  if (!context.other) {  // the other trace was closed
    const auto is_closed = [](const std::optional<CompareSection>& side) {
      return side && side->trace == CompareTrace::Other;
    };
    if (is_closed(state.chosen.a)) state.chosen.a.reset();
    if (is_closed(state.chosen.b)) state.chosen.b.reset();
  }
  if (std::exchange(context.view.compare_with_rest, false)) {
    if (const auto both = with_rest_of(context)) state.chosen = *both;
  }
  CompareChoice sides = state.chosen;
  const CompareChoice defaults = default_choice(context);
  if (!sides.a) sides.a = defaults.a;
  if (!sides.b) sides.b = defaults.b;
  draw_buttons(context, state.chosen, sides);
  if (sides.a || sides.b) {
    draw_side(context, "A", sides.a);
    ImGui::SameLine(0, theme.space * 3);
    draw_side(context, "B", sides.b);
  }
  if (!sides.a || !sides.b) {
    draw_missing_side(context, sides);
    return;
  }
  const auto document_a = document_of(context, sides.a->trace),
             document_b = document_of(context, sides.b->trace);
  const State::Key key{*sides.a, *sides.b, document_a->revision, document_b->revision};
  const bool sides_changed =
      !state.requested || !(state.requested->a == key.a && state.requested->b == key.b);
  // Update at most twice a second while a live trace grows.
  if (sides_changed ||
      (!(*state.requested == key) && ImGui::GetTime() - state.requested_at > 0.5)) {
    state.requested = key;
    state.requested_at = ImGui::GetTime();
    state.compared.ask(key, [key, document_a, document_b] {
      auto result = std::make_shared<const model::GraphComparison>(model::compare(
          {*document_a, key.a.graph, key.a.range}, {*document_b, key.b.graph, key.b.range}));
      return State::Compared{key.a, key.b, std::move(result)};
    });
  } else if (!(*state.requested == key)) {
    context.background.run([] {});  // wakes the drawing thread for another frame
  }
  const auto compared = state.compared.value();
  if (const std::string error = state.compared.error(); !error.empty()) {
    draw_empty(theme, "Comparison failed", error);
  } else if (!compared || !(compared->a == key.a && compared->b == key.b)) {
    draw_busy(theme, "Loading the samples of both sides");
  } else if (!compared->result->graph_a || !compared->result->graph_b) {
    draw_empty(theme, "A graph is missing in its trace",
               "Select both sides again with the buttons above.");
  } else {
    draw_summary(theme, *compared->result);
    state.table.draw(context, compared->result, key.a, key.b);
  }
}

}  // namespace reprise::viewer

#include "panels/compare/compare_panel.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <imgui.h>

#include "panels/compare/compare_choice.hpp"
#include "panels/compare/compare_result.hpp"
#include "panels/compare/compare_table.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

struct ComparePanel::State {
  explicit State(Background& background) : compared(background) {}

  struct Key {
    CompareStretch a, b;
    std::uint64_t revision_a = 0, revision_b = 0;  // of the documents
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Compared {
    CompareStretch a, b;
    std::shared_ptr<const CompareResult> result;
  };

  CompareChoice chosen;        // what is empty is the default's
  model::GraphKey chosen_for;  // the shown graph at that time: another one is compared anew
  AsyncValue<Key, Compared> compared;
  std::optional<Key> asked;
  double asked_at = 0;
  CompareTable table;
};

ComparePanel::ComparePanel(Background& background) : state_(std::make_unique<State>(background)) {}
ComparePanel::~ComparePanel() = default;

namespace {

// A letter in a field of the side's colour.
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
               const std::optional<CompareStretch>& side) {
  draw_letter(context.theme, letter, with_alpha(context.theme.ink_soft, 1));
  ImGui::PushStyleColor(ImGuiCol_Text, side ? context.theme.ink : context.theme.ink_faint);
  ImGui::TextUnformatted(side ? stretch_text(context, *side).c_str() : "not chosen");
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

void draw_buttons(const PanelContext& context, CompareChoice& chosen, const CompareChoice& now) {
  const Theme& theme = context.theme;
  const char* range_hint = context.view.has_range()
                               ? "The replays that are chosen in the strip above"
                               : "All replays: drag in the strip above to choose some";
  if (draw_button(theme, "A = chosen replays", range_hint, !context.entry->replays.empty()))
    chosen.a = chosen_now(context);
  if (draw_button(theme, "B = chosen replays", range_hint, !context.entry->replays.empty()))
    chosen.b = chosen_now(context);
  if (const auto both = halves_of(context);
      draw_button(theme, "First half | second half",
                  "Of the chosen replays: does it get slower while it runs?", both.has_value()))
    chosen = *both;
  if (const auto both = versions_of(context);
      both && draw_button(theme, "Version before | this one",
                          "What the last change of the graph did", true))
    chosen = *both;
  if (draw_button(theme, "Swap", "A for B", now.a && now.b)) chosen = {now.b, now.a};
  if (context.other && (chosen.a || chosen.b) &&
      draw_button(theme, "Whole traces", "All replays of the one trace against all of the other",
                  true))
    chosen = {};
  if (!context.other && (chosen.a || chosen.b) &&
      draw_button(theme, "Clear", "Forget both sides", true))
    chosen = {};
  ImGui::NewLine();
}

std::string times_text(const char* what, const ComparedTimes& times) {
  if (!times.is_known()) return {};
  std::string text = std::string(what) + " " + duration_text(times.median_a) + " in A, " +
                     duration_text(times.median_b) + " in B: " + change_text(times.change);
  if (times.is_significant) {
    text += times.p < 0.0001 ? ", more than chance (p < 0.0001)" : ", more than chance";
  } else {
    text += ", which may be chance";
  }
  return text;
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

void draw_summary(const Theme& theme, const CompareResult& result) {
  const std::string device = times_text("A replay takes", result.device_time),
                    launch = times_text("its launch call", result.launch_call);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  if (device.empty()) {
    ImGui::TextUnformatted("How long replays took on the device is known of one side at most.");
  } else {
    ImGui::TextUnformatted((device + (launch.empty() ? "" : ";   " + launch) + ".").c_str());
  }
  draw_legend_mark(
      theme, slower_colour(theme),
      count_text(result.slower) + (result.slower == 1 ? " node is slower" : " nodes are slower"));
  draw_legend_mark(theme, faster_colour(theme), count_text(result.faster) + " faster");
  draw_legend_mark(theme, 0, count_text(result.added) + " only in B");
  draw_legend_mark(theme, 0, count_text(result.removed) + " only in A");
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(("nodes of " + count_text(result.sampled_a) + " and " +
                          count_text(result.sampled_b) +
                          " measured replays; hollow bars may be chance")
                             .c_str());
  ImGui::PopStyleColor(2);
  tooltip("Of more replays than " + count_text(kComparedReplays) +
          " on a side, as many are read, spread evenly.");
}

void draw_nothing(const PanelContext& context, const CompareChoice& now) {
  if (context.other && !now.b) {
    draw_empty(context.theme, "The other trace has no graph named " + context.graph()->name(),
               "Graphs are matched by name. Show another graph, or compare two stretches of this "
               "trace with the buttons above.");
  } else if (now.a || now.b) {
    draw_empty(
        context.theme, now.a ? "B is not chosen yet" : "A is not chosen yet",
        "Drag in the strip of replays above to choose some, then take them as the other side.");
  } else {
    draw_empty(context.theme, "What shall be compared?",
               "Two stretches of replays: drag in the strip above and take them as A, then as B, "
               "or compare the first half with the second. Two "
               "traces: reprise view A B, or drop both on the window.");
  }
}

}  // namespace

void ComparePanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.graph() == nullptr) {
    draw_empty(theme, "Nothing to compare yet",
               "Stretches of replays, versions of a graph and traces can be compared as soon as "
               "there is a graph.");
    return;
  }
  State& state = *state_;
  const model::GraphKey shown = context.graph()->key();
  if (state.chosen_for != shown) {
    const auto is_here = [&](const std::optional<CompareStretch>& side) {
      return side && side->trace == CompareTrace::Shown && side->graph == shown;
    };
    if (!is_here(state.chosen.a) && !is_here(state.chosen.b)) state.chosen = {};
    state.chosen_for = shown;
  }
  if (!context.other) {  // it was closed
    const auto is_gone = [](const std::optional<CompareStretch>& side) {
      return side && side->trace == CompareTrace::Other;
    };
    if (is_gone(state.chosen.a)) state.chosen.a.reset();
    if (is_gone(state.chosen.b)) state.chosen.b.reset();
  }
  CompareChoice now = state.chosen;
  const CompareChoice usual = default_choice(context);
  if (!now.a) now.a = usual.a;
  if (!now.b) now.b = usual.b;
  draw_buttons(context, state.chosen, now);
  if (now.a || now.b) {
    draw_side(context, "A", now.a);
    ImGui::SameLine(0, theme.space * 3);
    draw_side(context, "B", now.b);
  }
  if (!now.a || !now.b) {
    draw_nothing(context, now);
    return;
  }
  const auto document_a = document_of(context, now.a->trace),
             document_b = document_of(context, now.b->trace);
  const State::Key key{*now.a, *now.b, document_a->revision, document_b->revision};
  const bool is_other = !state.asked || !(state.asked->a == key.a && state.asked->b == key.b);
  // While a trace grows, twice a second is often enough.
  if (is_other || (!(*state.asked == key) && ImGui::GetTime() - state.asked_at > 0.5)) {
    state.asked = key;
    state.asked_at = ImGui::GetTime();
    state.compared.ask(key, [key, document_a, document_b] {
      auto result = std::make_shared<const CompareResult>(compare_sides(
          {document_a, key.a.graph, key.a.range}, {document_b, key.b.graph, key.b.range}));
      return State::Compared{key.a, key.b, std::move(result)};
    });
  } else if (!(*state.asked == key)) {
    context.background.run([] {});  // so that there is a next frame, to ask in
  }
  const auto compared = state.compared.value();
  if (const std::string error = state.compared.error(); !error.empty()) {
    draw_empty(theme, "The comparison could not be made", error);
  } else if (!compared || !(compared->a == key.a && compared->b == key.b)) {
    draw_busy(theme, "Reading the samples of both sides");
  } else if (!compared->result->graph_a || !compared->result->graph_b) {
    draw_empty(theme, "One of the two graphs is not in its trace",
               "Choose both sides anew with the buttons above.");
  } else {
    draw_summary(theme, *compared->result);
    state.table.draw(context, compared->result, key.a, key.b);
  }
}

}  // namespace reprise::viewer

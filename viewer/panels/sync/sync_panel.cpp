#include "panels/sync/sync_panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "panels/sync/sync_detail.hpp"
#include "panels/sync/sync_tables.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/splitter.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

using GraphPointer = std::shared_ptr<const model::Graph>;
using Medians = std::shared_ptr<const std::vector<double>>;

struct CostKey {
  GraphPointer graph;
  Medians medians;
  friend bool operator==(const CostKey&, const CostKey&) = default;
};
struct GapKey {
  GraphPointer graph;
  model::SampleStore::Block block;
  friend bool operator==(const GapKey&, const GapKey&) = default;
};
struct FindingKey {
  GraphPointer graph;
  std::size_t messages = 0;
  friend bool operator==(const FindingKey&, const FindingKey&) = default;
};

enum class SyncTab : int { Edges, Barriers, Findings };

constexpr float kDetailPart = 0.34f;

}  // namespace

struct SyncPanel::State {
  explicit State(Background& background)
      : costs(background),
        gaps(background),
        found(background),
        edges(background),
        barriers(background) {}

  void ask(const PanelContext& context);
  void draw_bar(PanelContext& context, const SyncViewModel& view_model);
  void draw_causes(const PanelContext& context, const SyncViewModel& view_model);
  void draw_summary(PanelContext& context, const SyncViewModel& view_model) const;
  void draw_table(PanelContext& context, const SyncViewModelPointer& view_model, ImVec2 size);
  void follow_selection(const PanelContext& context);

  AsyncValue<CostKey, SyncViewModel> costs;
  AsyncValue<GapKey, std::vector<EdgeGap>> gaps;
  AsyncValue<FindingKey, std::vector<Finding>> found;
  CostKey asked_costs;
  GapKey asked_gaps;

  EdgeTable edges;
  BarrierTable barriers;
  SyncDetail detail;
  SyncTab tab = SyncTab::Edges;
  EdgeChoice choice;
  float detail_part = kDetailPart;  // of what is below the summary
  GraphPointer seen_graph;
  model::Selection seen;
};

SyncPanel::SyncPanel(Background& background) : state_(std::make_unique<State>(background)) {}
SyncPanel::~SyncPanel() = default;

void SyncPanel::State::ask(const PanelContext& context) {
  const GraphPointer graph = context.entry->graph;
  if (seen_graph != graph) {
    seen_graph = graph;
    choice.barrier = kNone;
  }
  // Facts of another graph, or none yet: costs are those without times then.
  const bool has_view_model = context.view_model && context.view_model->key == graph->key() &&
                              context.view_model->medians.size() == graph->node_count();
  const bool is_same = asked_costs.graph == graph && asked_costs.medians &&
                       (has_view_model ? *asked_costs.medians == context.view_model->medians
                                       : asked_costs.medians->size() == graph->node_count());
  if (!is_same) {
    asked_costs = {graph, std::make_shared<const std::vector<double>>(
                              has_view_model ? context.view_model->medians
                                             : std::vector<double>(graph->node_count(), 0))};
    costs.ask(asked_costs,
              [key = asked_costs] { return sync_view_model(key.graph, *key.medians); });
  }
  const GapKey gap{graph, context.replay ? context.replay->block : nullptr};
  if (gap.block && !(gap == asked_gaps)) {
    asked_gaps = gap;
    gaps.ask(gap, [graph, times = std::make_shared<const model::ReplayTimes>(
                              context.replay->times)] { return edge_gaps(*graph, *times); });
  }
  const auto document = context.document;
  found.ask({graph, document->messages.size()},
            [graph, document] { return findings(*graph, document->messages); });
}

void SyncPanel::State::follow_selection(const PanelContext& context) {
  if (seen == context.view.selection) return;
  seen = context.view.selection;
  // A barrier that was selected elsewhere stands in the other table.
  if (std::holds_alternative<model::SelectedBarrier>(seen) && tab != SyncTab::Barriers &&
      choice.barrier == kNone)
    tab = SyncTab::Barriers;
  if (std::holds_alternative<model::SelectedEdge>(seen) && tab == SyncTab::Findings)
    tab = SyncTab::Edges;
}

void SyncPanel::State::draw_bar(PanelContext& context, const SyncViewModel& view_model) {
  const Theme& theme = context.theme;
  const auto& record = view_model.graph->record();
  const auto list = found.value();
  const std::size_t findings_count = list ? list->size() : 0;
  const std::array<ChoiceItem, 3> tabs{
      {{"Edges  " + count_text(record.edges.size()),
        "What has to end before what, why, and what it costs."},
       {"Barriers  " + count_text(record.barriers.size()),
        "Barriers that the program recorded, and what each costs."},
       {"Findings  " + count_text(findings_count),
        "What the validation said about ordering: hazards, barriers that order nothing."}}};
  const auto before = tab;
  tab = static_cast<SyncTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != before) choice.barrier = kNone;
  if (tab == SyncTab::Edges) {
    ImGui::SameLine(0, theme.space * 2);
    draw_causes(context, view_model);
  }
}

void SyncPanel::State::draw_causes(const PanelContext& context, const SyncViewModel& view_model) {
  const Theme& theme = context.theme;
  if (choice.barrier != kNone) {
    if (draw_toggle(
            theme, "barrier",
            {"edges of " + barrier_text(*view_model.graph, choice.barrier) + "   x",
             "Show all edges again", cause_colour(theme, trace::EdgeCause::Barrier), true})) {
      choice.barrier = kNone;
    }
    return;
  }
  for (std::size_t c = 0; c < kEdgeCauses; ++c) {
    const SyncViewModel::Cause& cause = view_model.causes[c];
    if (cause.edges == 0) continue;
    const auto which = static_cast<trace::EdgeCause>(c);
    std::string text = count_text(cause.edges) + " edges, " + count_text(cause.critical) +
                       " on a longest way, " + count_text(cause.implied) + " that order nothing.";
    if (view_model.has_times)
      text += "\nWithout all of them the longest way would be " + duration_text(cause.cost) +
              " shorter.";
    if (which == trace::EdgeCause::Lane || which == trace::EdgeCause::EntryExit)
      text += "\nFalse dependencies: nothing that the nodes do asks for them.";
    text += "\nClick: show or hide them.";
    ImGui::PushID(static_cast<int>(c));
    const std::uint32_t bit = 1u << c;
    if (draw_toggle(theme, "cause",
                    {std::string(cause_name(which)) + "  " + count_text(cause.edges), text,
                     cause_colour(theme, which), (choice.causes & bit) != 0}))
      choice.causes ^= bit;
    ImGui::PopID();
    ImGui::SameLine(0, theme.half_space);
  }
  ImGui::SameLine(0, theme.space * 2);
  const std::array<ChoiceItem, 3> kinds{
      {{"All", "All of these causes."},
       {"Critical", "Only edges on a longest way through the graph."},
       {"Implied",
        "Only edges that order nothing: what else their nodes need orders them already."}}};
  choice.kind =
      static_cast<EdgeKind>(draw_choice(theme, "kind", kinds, static_cast<int>(choice.kind)));
}

void SyncPanel::State::draw_summary(PanelContext& context, const SyncViewModel& view_model) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  bool is_first = true;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  // Facts side by side; what has no room begins a new line.
  const auto fact = [&](const char* name, const std::string& value, ImU32 colour,
                        const std::string& explanation) {
    const float width =
        ImGui::CalcTextSize(name).x + theme.half_space + ImGui::CalcTextSize(value.c_str()).x;
    if (!is_first && ImGui::GetItemRectMax().x + theme.space * 2.5f + width <= right)
      ImGui::SameLine(0, theme.space * 2.5f);
    is_first = false;
    ImGui::BeginGroup();
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted(name);
    ImGui::PopStyleColor();
    ImGui::SameLine(0, theme.half_space);
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(value.c_str());
    ImGui::PopStyleColor();
    ImGui::EndGroup();
    tooltip(explanation);
    return ImGui::IsItemClicked();
  };
  if (view_model.has_times) {
    fact("longest way", duration_text(view_model.costs.length), theme.ink,
         "The sum of the medians along the longest chain of nodes that wait for each other: no "
         "replay can be faster, unless nodes or edges change.");
  } else {
    fact("costs", "unknown, nothing was measured", theme.ink_soft,
         "Costs come from the medians of node times; this graph has none in the range.");
  }
  if (view_model.costliest_edge != kNone) {
    const trace::Edge& e = graph.record().edges[view_model.costliest_edge];
    const std::string text = std::to_string(e.from) + " " + shortened(graph.node_name(e.from), 20) +
                             " to " + std::to_string(e.to) + " " +
                             shortened(graph.node_name(e.to), 20) + ", " +
                             duration_text(view_model.costs.edges[view_model.costliest_edge].cost);
    if (fact("dearest edge", text, theme.accent,
             "The edge without which the longest way would be shortest. Click to select it.")) {
      context.view.select(model::SelectedEdge{graph.key(), view_model.costliest_edge});
    }
  }
  if (view_model.dearest_barrier != kNone) {
    const std::string text =
        barrier_text(graph, view_model.dearest_barrier) + ", " +
        duration_text(view_model.costs.barriers[view_model.dearest_barrier].cost);
    if (fact("dearest barrier", text, theme.accent,
             "The barrier without which the longest way would be shortest. Click to select it.")) {
      context.view.select(model::SelectedBarrier{graph.key(), view_model.dearest_barrier});
    }
  }
  const auto& lane = view_model.causes[static_cast<std::size_t>(trace::EdgeCause::Lane)];
  const auto& frame_edges =
      view_model.causes[static_cast<std::size_t>(trace::EdgeCause::EntryExit)];
  if (view_model.has_times && lane.edges + frame_edges.edges != 0) {
    fact("false dependencies",
         "lanes " + duration_text(lane.cost) + ", frame " + duration_text(frame_edges.cost),
         lane.cost > 0 ? theme.warning : theme.ink,
         "How much shorter the longest way would be without all edges between nodes of one lane, "
         "and without all of the frame.");
  }
  if (!graph.record().barriers.empty()) {
    fact("barriers that order nothing", count_text(view_model.idle_barriers),
         view_model.idle_barriers != 0 ? theme.warning : theme.ink,
         "They make no edge, or what else the nodes need orders all that they do: they can be "
         "removed.");
  }
  const auto list = found.value();
  const auto hazards = list ? std::count_if(list->begin(), list->end(),
                                            [](const Finding& f) { return is_hazard(f); })
                            : 0;
  fact("hazards found", count_text(static_cast<std::uint64_t>(hazards)),
       hazards != 0 ? theme.error : theme.ink,
       "Conflicting accesses that nothing orders, as full validation reported them. Without full "
       "validation nobody looked.");
}

void SyncPanel::State::draw_table(PanelContext& context, const SyncViewModelPointer& view_model,
                                  ImVec2 size) {
  const Theme& theme = context.theme;
  switch (tab) {
    case SyncTab::Edges: {
      if (view_model->graph->record().edges.empty())
        return draw_empty(theme, "No edges",
                          "Nothing in this graph has to wait for anything else.");
      const EdgeGaps shown =
          asked_gaps.block && context.replay && context.replay->block == asked_gaps.block
              ? gaps.value(asked_gaps)
              : nullptr;
      edges.draw(context, view_model, shown, choice, size);
      break;
    }
    case SyncTab::Barriers:
      if (view_model->graph->record().barriers.empty()) {
        return draw_empty(theme, "No barriers",
                          view_model->graph->record().ordering == 0
                              ? "The order of this graph was inferred from what its commands read "
                                "and write: it needs none."
                              : "The program recorded none.");
      }
      barriers.draw(context, view_model, size);
      break;
    case SyncTab::Findings: {
      const auto list = found.value();
      if (!list || list->empty()) {
        return draw_empty(theme, "Nothing was found",
                          "Hazards and barriers that order nothing are looked for at full "
                          "validation; the engine writes them into the trace.");
      }
      viewer::draw_findings(context, *list, size);
      break;
    }
  }
}

void SyncPanel::draw(PanelContext& context) {
  if (!context.entry) {
    draw_empty(context.theme, "No graph yet",
               "Edges and barriers stand here as soon as the trace describes a graph.");
    return;
  }
  State& s = *state_;
  const Theme& theme = context.theme;
  s.ask(context);
  const SyncViewModelPointer view_model = s.costs.value();
  if (!view_model || view_model->graph != context.entry->graph)
    return draw_busy(theme, "Working out what each edge costs");
  s.follow_selection(context);
  s.draw_bar(context, *view_model);
  s.draw_summary(context, *view_model);
  const float room = ImGui::GetContentRegionAvail().y;
  const bool has_detail = s.tab != SyncTab::Findings && room > 220 * theme.scale;
  const float detail = has_detail ? std::clamp(std::floor(room * s.detail_part), 100 * theme.scale,
                                               room - 110 * theme.scale)
                                  : 0;
  const ImVec2 size{ImGui::GetContentRegionAvail().x,
                    room - (has_detail ? detail + theme.splitter + theme.half_space : 0)};
  ImGui::BeginChild("tables", size);
  s.draw_table(context, view_model, {0, 0});
  ImGui::EndChild();
  if (!has_detail) return;
  const ImVec2 line = ImGui::GetItemRectMin();
  const SplitterMove move =
      draw_splitter(theme, "detail line", SplitterAxis::Level, {line.x, line.y + size.y},
                    {line.x + size.x, line.y + size.y + theme.splitter});
  s.detail_part = move.reset ? kDetailPart : std::clamp(s.detail_part - move.by / room, 0.1f, 0.8f);
  ImGui::SetCursorScreenPos({line.x, line.y + size.y + theme.splitter + theme.half_space});
  if (const auto barrier =
          s.detail.draw(context, *view_model, {size.x, ImGui::GetContentRegionAvail().y})) {
    s.choice.barrier = *barrier;
    s.tab = SyncTab::Edges;
  }
}

}  // namespace reprise::viewer

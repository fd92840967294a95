#include "panels/sync_panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "panels/choice.hpp"
#include "panels/format.hpp"
#include "panels/splitter.hpp"
#include "panels/sync_detail.hpp"
#include "panels/sync_tables.hpp"
#include "panels/widgets.hpp"

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
  explicit State(Background& background) : costs(background), gaps(background), found(background), edges(background), barriers(background) {}

  void ask(const Frame& frame);
  void draw_bar(Frame& frame, const SyncFacts& facts);
  void draw_causes(const Frame& frame, const SyncFacts& facts);
  void draw_summary(Frame& frame, const SyncFacts& facts) const;
  void draw_table(Frame& frame, const SyncFactsPointer& facts, ImVec2 size);
  void follow_selection(const Frame& frame);

  Latest<CostKey, SyncFacts> costs;
  Latest<GapKey, std::vector<EdgeGap>> gaps;
  Latest<FindingKey, std::vector<Finding>> found;
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

void SyncPanel::State::ask(const Frame& frame) {
  const GraphPointer graph = frame.entry->graph;
  if (seen_graph != graph) {
    seen_graph = graph;
    choice.barrier = kNone;
  }
  // Facts of another graph, or none yet: costs are those without times then.
  const bool has_facts = frame.facts && frame.facts->key == graph->key() && frame.facts->medians.size() == graph->node_count();
  const bool is_same = asked_costs.graph == graph && asked_costs.medians &&
                       (has_facts ? *asked_costs.medians == frame.facts->medians : asked_costs.medians->size() == graph->node_count());
  if (!is_same) {
    asked_costs = {graph,
                   std::make_shared<const std::vector<double>>(has_facts ? frame.facts->medians : std::vector<double>(graph->node_count(), 0))};
    costs.ask(asked_costs, [key = asked_costs] { return sync_facts(key.graph, *key.medians); });
  }
  const GapKey gap{graph, frame.replay ? frame.replay->block : nullptr};
  if (gap.block && !(gap == asked_gaps)) {
    asked_gaps = gap;
    gaps.ask(gap, [graph, times = std::make_shared<const model::ReplayTimes>(frame.replay->times)] { return edge_gaps(*graph, *times); });
  }
  const auto document = frame.document;
  found.ask({graph, document->messages.size()}, [graph, document] { return findings(*graph, document->messages); });
}

void SyncPanel::State::follow_selection(const Frame& frame) {
  if (seen == frame.view.selection) return;
  seen = frame.view.selection;
  // A barrier that was selected elsewhere stands in the other table.
  if (std::holds_alternative<model::SelectedBarrier>(seen) && tab != SyncTab::Barriers && choice.barrier == kNone) tab = SyncTab::Barriers;
  if (std::holds_alternative<model::SelectedEdge>(seen) && tab == SyncTab::Findings) tab = SyncTab::Edges;
}

void SyncPanel::State::draw_bar(Frame& frame, const SyncFacts& facts) {
  const Theme& theme = frame.theme;
  const auto& record = facts.graph->record();
  const auto list = found.value();
  const std::size_t findings_count = list ? list->size() : 0;
  const std::array<ChoiceItem, 3> tabs{
      {{"Edges  " + count_text(record.edges.size()), "What has to end before what, why, and what it costs."},
       {"Barriers  " + count_text(record.barriers.size()), "Barriers that the program recorded, and what each costs."},
       {"Findings  " + count_text(findings_count), "What the validation said about ordering: hazards, barriers that order nothing."}}};
  const auto before = tab;
  tab = static_cast<SyncTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != before) choice.barrier = kNone;
  if (tab == SyncTab::Edges) {
    ImGui::SameLine(0, theme.space * 2);
    draw_causes(frame, facts);
  }
}

void SyncPanel::State::draw_causes(const Frame& frame, const SyncFacts& facts) {
  const Theme& theme = frame.theme;
  if (choice.barrier != kNone) {
    if (draw_toggle(theme, "barrier",
                    {"edges of " + barrier_text(*facts.graph, choice.barrier) + "   x", "Show all edges again",
                     cause_colour(theme, trace::EdgeCause::Barrier), true})) {
      choice.barrier = kNone;
    }
    return;
  }
  for (std::size_t c = 0; c < kEdgeCauses; ++c) {
    const SyncFacts::Cause& cause = facts.causes[c];
    if (cause.edges == 0) continue;
    const auto which = static_cast<trace::EdgeCause>(c);
    std::string text = count_text(cause.edges) + " edges, " + count_text(cause.critical) + " on a longest way, " + count_text(cause.implied) +
                       " that order nothing.";
    if (facts.has_times) text += "\nWithout all of them the longest way would be " + duration_text(cause.cost) + " shorter.";
    if (which == trace::EdgeCause::Lane || which == trace::EdgeCause::Frame) text += "\nFalse dependencies: nothing that the nodes do asks for them.";
    text += "\nClick: show or hide them.";
    ImGui::PushID(static_cast<int>(c));
    const std::uint32_t bit = 1u << c;
    if (draw_toggle(theme, "cause",
                    {std::string(cause_name(which)) + "  " + count_text(cause.edges), text, cause_colour(theme, which), (choice.causes & bit) != 0}))
      choice.causes ^= bit;
    ImGui::PopID();
    ImGui::SameLine(0, theme.half_space);
  }
  ImGui::SameLine(0, theme.space * 2);
  const std::array<ChoiceItem, 3> kinds{{{"All", "All of these causes."},
                                         {"Critical", "Only edges on a longest way through the graph."},
                                         {"Implied", "Only edges that order nothing: what else their nodes need orders them already."}}};
  choice.kind = static_cast<EdgeKind>(draw_choice(theme, "kind", kinds, static_cast<int>(choice.kind)));
}

void SyncPanel::State::draw_summary(Frame& frame, const SyncFacts& facts) const {
  const Theme& theme = frame.theme;
  const model::Graph& graph = *facts.graph;
  bool is_first = true;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  // Facts side by side; what has no room begins a new line.
  const auto fact = [&](const char* name, const std::string& value, ImU32 colour, const std::string& explanation) {
    const float width = ImGui::CalcTextSize(name).x + theme.half_space + ImGui::CalcTextSize(value.c_str()).x;
    if (!is_first && ImGui::GetItemRectMax().x + theme.space * 2.5f + width <= right) ImGui::SameLine(0, theme.space * 2.5f);
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
  if (facts.has_times) {
    fact("longest way", duration_text(facts.costs.length), theme.ink,
         "The sum of the medians along the longest chain of nodes that wait for each other: no replay can be faster, unless nodes or edges change.");
  } else {
    fact("costs", "unknown, nothing was measured", theme.ink_soft, "Costs come from the medians of node times; this graph has none in the range.");
  }
  if (facts.dearest_edge != kNone) {
    const trace::Edge& e = graph.record().edges[facts.dearest_edge];
    const std::string text = std::to_string(e.from) + " " + shortened(graph.node_name(e.from), 20) + " to " + std::to_string(e.to) + " " +
                             shortened(graph.node_name(e.to), 20) + ", " + duration_text(facts.costs.edges[facts.dearest_edge].cost);
    if (fact("dearest edge", text, theme.accent, "The edge without which the longest way would be shortest. Click to select it.")) {
      frame.view.select(model::SelectedEdge{graph.key(), facts.dearest_edge});
    }
  }
  if (facts.dearest_barrier != kNone) {
    const std::string text = barrier_text(graph, facts.dearest_barrier) + ", " + duration_text(facts.costs.barriers[facts.dearest_barrier].cost);
    if (fact("dearest barrier", text, theme.accent, "The barrier without which the longest way would be shortest. Click to select it.")) {
      frame.view.select(model::SelectedBarrier{graph.key(), facts.dearest_barrier});
    }
  }
  const auto& lane = facts.causes[static_cast<std::size_t>(trace::EdgeCause::Lane)];
  const auto& frame_edges = facts.causes[static_cast<std::size_t>(trace::EdgeCause::Frame)];
  if (facts.has_times && lane.edges + frame_edges.edges != 0) {
    fact("false dependencies", "lanes " + duration_text(lane.cost) + ", frame " + duration_text(frame_edges.cost),
         lane.cost > 0 ? theme.warning : theme.ink,
         "How much shorter the longest way would be without all edges between nodes of one lane, and without all of the frame.");
  }
  if (!graph.record().barriers.empty()) {
    fact("barriers that order nothing", count_text(facts.idle_barriers), facts.idle_barriers != 0 ? theme.warning : theme.ink,
         "They make no edge, or what else the nodes need orders all that they do: they can be removed.");
  }
  const auto list = found.value();
  const auto hazards = list ? std::count_if(list->begin(), list->end(), [](const Finding& f) { return is_hazard(f); }) : 0;
  fact("hazards found", count_text(static_cast<std::uint64_t>(hazards)), hazards != 0 ? theme.error : theme.ink,
       "Conflicting accesses that nothing orders, as full validation reported them. Without full validation nobody looked.");
}

void SyncPanel::State::draw_table(Frame& frame, const SyncFactsPointer& facts, ImVec2 size) {
  const Theme& theme = frame.theme;
  switch (tab) {
    case SyncTab::Edges: {
      if (facts->graph->record().edges.empty()) return draw_empty(theme, "No edges", "Nothing in this graph has to wait for anything else.");
      const EdgeGaps shown = asked_gaps.block && frame.replay && frame.replay->block == asked_gaps.block ? gaps.value(asked_gaps) : nullptr;
      edges.draw(frame, facts, shown, choice, size);
      break;
    }
    case SyncTab::Barriers:
      if (facts->graph->record().barriers.empty()) {
        return draw_empty(theme, "No barriers",
                          facts->graph->record().ordering == 0
                              ? "The order of this graph was inferred from what its commands read and write: it needs none."
                              : "The program recorded none.");
      }
      barriers.draw(frame, facts, size);
      break;
    case SyncTab::Findings: {
      const auto list = found.value();
      if (!list || list->empty()) {
        return draw_empty(theme, "Nothing was found",
                          "Hazards and barriers that order nothing are looked for at full validation; the engine writes them into the trace.");
      }
      viewer::draw_findings(frame, *list, size);
      break;
    }
  }
}

void SyncPanel::draw(Frame& frame) {
  if (!frame.entry) {
    draw_empty(frame.theme, "No graph yet", "Edges and barriers stand here as soon as the trace describes a graph.");
    return;
  }
  State& s = *state_;
  const Theme& theme = frame.theme;
  s.ask(frame);
  const SyncFactsPointer facts = s.costs.value();
  if (!facts || facts->graph != frame.entry->graph) return draw_busy(theme, "Working out what each edge costs");
  s.follow_selection(frame);
  s.draw_bar(frame, *facts);
  s.draw_summary(frame, *facts);
  const float room = ImGui::GetContentRegionAvail().y;
  const bool has_detail = s.tab != SyncTab::Findings && room > 220 * theme.scale;
  const float detail = has_detail ? std::clamp(std::floor(room * s.detail_part), 100 * theme.scale, room - 110 * theme.scale) : 0;
  const ImVec2 size{ImGui::GetContentRegionAvail().x, room - (has_detail ? detail + theme.splitter + theme.half_space : 0)};
  ImGui::BeginChild("tables", size);
  s.draw_table(frame, facts, {0, 0});
  ImGui::EndChild();
  if (!has_detail) return;
  const ImVec2 line = ImGui::GetItemRectMin();
  const SplitterMove move =
      draw_splitter(theme, "detail line", SplitterAxis::Level, {line.x, line.y + size.y}, {line.x + size.x, line.y + size.y + theme.splitter});
  s.detail_part = move.reset ? kDetailPart : std::clamp(s.detail_part - move.by / room, 0.1f, 0.8f);
  ImGui::SetCursorScreenPos({line.x, line.y + size.y + theme.splitter + theme.half_space});
  if (const auto barrier = s.detail.draw(frame, *facts, {size.x, ImGui::GetContentRegionAvail().y})) {
    s.choice.barrier = *barrier;
    s.tab = SyncTab::Edges;
  }
}

}  // namespace reprise::viewer

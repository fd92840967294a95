#include "panels/sync/sync_panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/graph_comparison.hpp"
#include "panels/sync/sync_detail.hpp"
#include "panels/sync/sync_tables.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/splitter.hpp"
#include "panels/widgets/toolbar.hpp"
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
struct MedianKey {
  GraphPointer graph;
  std::size_t first = 0, count = 0;  // range of replays
  std::uint64_t samples = 0;         // rounded, see round_down()
  friend bool operator==(const MedianKey&, const MedianKey&) = default;
};
struct FindingKey {
  GraphPointer graph;
  std::size_t messages = 0;
  friend bool operator==(const FindingKey&, const FindingKey&) = default;
};

enum class SyncTab : int { Edges, Barriers, Findings };

constexpr float kDetailFraction = 0.34f;

// To a step of at most a tenth, to limit how often values of a growing trace are computed.
std::uint64_t round_down(std::uint64_t count) {
  std::uint64_t step = 1;
  while (step * 20 < count) step *= 2;
  return count / step * step;
}

}  // namespace

struct SyncPanel::State {
  explicit State(Background& background)
      : costs(background),
        gaps(background),
        median_gaps(background),
        found(background),
        edges(background),
        barriers(background) {}

  void request(const PanelContext& context);
  void draw_bar(PanelContext& context, const SyncViewModel& view_model);
  void draw_causes(const PanelContext& context, const SyncViewModel& view_model);
  void draw_summary(PanelContext& context, const SyncViewModel& view_model) const;
  void draw_table(PanelContext& context, const SyncViewModelPointer& view_model, ImVec2 size);
  void follow_selection(const PanelContext& context);

  AsyncValue<CostKey, SyncViewModel> costs;
  AsyncValue<GapKey, std::vector<model::EdgeGap>> gaps;
  AsyncValue<MedianKey, model::MedianGaps> median_gaps;
  AsyncValue<FindingKey, std::vector<Finding>> found;
  CostKey requested_costs;
  GapKey requested_gaps;
  MedianKey requested_medians;
  std::shared_ptr<const model::MedianGaps> shown_medians;  // of requested_medians.graph

  EdgeTable edges;
  BarrierTable barriers;
  SyncDetail detail;
  SyncTab tab = SyncTab::Edges;
  EdgeFilter filter;
  float detail_fraction = kDetailFraction;  // of the height below the summary
  GraphPointer last_graph;
  model::Selection last_selection;
};

SyncPanel::SyncPanel(Background& background) : state_(std::make_unique<State>(background)) {}
SyncPanel::~SyncPanel() = default;

void SyncPanel::State::request(const PanelContext& context) {
  const GraphPointer graph = context.entry->graph;
  if (last_graph != graph) {
    last_graph = graph;
    filter.barrier = kNone;
    shown_medians = nullptr;
  }
  // Without a view model of this graph, all durations are 0.
  const bool has_view_model = context.view_model && context.view_model->key == graph->key() &&
                              context.view_model->medians.size() == graph->node_count();
  const bool is_current = requested_costs.graph == graph && requested_costs.medians &&
                          (has_view_model ? *requested_costs.medians == context.view_model->medians
                                          : requested_costs.medians->size() == graph->node_count());
  if (!is_current) {
    requested_costs = {graph, std::make_shared<const std::vector<double>>(
                                  has_view_model ? context.view_model->medians
                                                 : std::vector<double>(graph->node_count(), 0))};
    const auto found_device = context.document->devices->find(graph->record().device);
    const trace::Device* device =
        found_device == context.document->devices->end() ? nullptr : &found_device->second;
    costs.ask(requested_costs,
              [key = requested_costs, demand = model::device_demand(*graph, device)] {
                return sync_view_model(key.graph, *key.medians, demand);
              });
  }
  const GapKey gap{graph, context.replay ? context.replay->block : nullptr};
  if (gap.block && !(gap == requested_gaps)) {
    requested_gaps = gap;
    gaps.ask(gap, [graph, times = std::make_shared<const model::ReplayTimes>(
                              context.replay->times)] { return model::edge_gaps(*graph, *times); });
  }
  const auto document = context.document;
  const MedianKey medians{graph, context.view.range.first, context.view.range.count,
                          has_view_model ? round_down(context.view_model->samples) : 0};
  if (const auto ready = median_gaps.value(requested_medians);
      ready && requested_medians.graph == graph)
    shown_medians = ready;
  if (medians.samples != 0 && !(medians == requested_medians)) {
    requested_medians = medians;
    median_gaps.ask(medians, [document, graph, range = context.view.range] {
      return model::median_gaps(
          *graph, model::blocks_of(*document, graph->key(), range, model::gap_replays(*graph)));
    });
  }
  found.ask({graph, document->messages.size()},
            [graph, document] { return findings(*graph, document->messages); });
}

void SyncPanel::State::follow_selection(const PanelContext& context) {
  if (last_selection == context.view.selection) return;
  last_selection = context.view.selection;
  // Show the table that contains a selection made in another panel.
  if (std::holds_alternative<model::SelectedBarrier>(last_selection) && tab != SyncTab::Barriers &&
      filter.barrier == kNone)
    tab = SyncTab::Barriers;
  if (std::holds_alternative<model::SelectedEdge>(last_selection) && tab == SyncTab::Findings)
    tab = SyncTab::Edges;
}

void SyncPanel::State::draw_bar(PanelContext& context, const SyncViewModel& view_model) {
  const Theme& theme = context.theme;
  const auto& record = view_model.graph->record();
  const auto list = found.value();
  const std::size_t finding_count = list ? list->size() : 0;
  const std::array<ChoiceItem, 3> tabs{
      {{"Edges  " + count_text(record.edges.size()), "Edges with their cause and cost."},
       {"Barriers  " + count_text(record.barriers.size()), "Recorded barriers and their cost."},
       {"Findings  " + count_text(finding_count),
        "Validation messages about ordering: hazards and redundant barriers."}}};
  const auto before = tab;
  tab = static_cast<SyncTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != before) filter.barrier = kNone;
  if (tab == SyncTab::Edges) draw_causes(context, view_model);
}

void SyncPanel::State::draw_causes(const PanelContext& context, const SyncViewModel& view_model) {
  const Theme& theme = context.theme;
  Toolbar bar(theme, "sync toolbar");
  const float padding = 2 * ImGui::GetStyle().FramePadding.x,
              swatch = ImGui::GetTextLineHeight() + theme.half_space;
  const auto toggle_width = [&](const std::string& text) {
    return ImGui::CalcTextSize(text.c_str()).x + padding + swatch;
  };
  for (std::size_t c = 0; c < kEdgeCauses; ++c) {
    const SyncViewModel::Cause& cause = view_model.causes[c];
    if (cause.edges == 0) continue;
    const auto edge_cause = static_cast<trace::EdgeCause>(c);
    const std::string name = std::string(cause_text(edge_cause)) + "  " + count_text(cause.edges);
    if (!bar.place(toggle_width(name))) continue;
    std::string text = count_text(cause.edges) + " edges, " + count_text(cause.critical) +
                       " critical, " + count_text(cause.redundant) + " redundant.";
    if (is_added(edge_cause)) {
      text += "\nFalse dependencies, added by lowering.";
      if (view_model.has_times)
        text += " Removing all of them saves about " + duration_text(cause.cost) + ".";
    }
    text += "\nClick to show or hide.";
    ImGui::PushID(static_cast<int>(c));
    const std::uint32_t bit = 1u << c;
    const bool is_on = filter.barrier == kNone ? (filter.causes & bit) != 0
                                               : edge_cause == trace::EdgeCause::Barrier;
    if (draw_toggle(theme, "cause", {name, text, cause_colour(theme, edge_cause), is_on})) {
      if (filter.barrier == kNone) filter.causes ^= bit;
      filter.barrier = kNone;
    }
    ImGui::PopID();
  }
  const std::array<ChoiceItem, 3> kinds{
      {{"All", "All edges."},
       {"Critical", "Only edges on the critical path."},
       {"Redundant", "Only edges whose nodes other edges already order."}}};
  float width = 0;
  for (const ChoiceItem& kind : kinds) width += ImGui::CalcTextSize(kind.text.c_str()).x + padding;
  if (bar.place(width)) {
    filter.kind =
        static_cast<EdgeKind>(draw_choice(theme, "kind", kinds, static_cast<int>(filter.kind)));
  }
  if (filter.barrier == kNone) return;
  // At the end: the other buttons keep their places.
  const std::string text = "edges of " + barrier_text(*view_model.graph, filter.barrier) + "   x";
  if (bar.place(toggle_width(text)) &&
      draw_toggle(theme, "barrier",
                  {text, "Show all edges", cause_colour(theme, trace::EdgeCause::Barrier), true}))
    filter.barrier = kNone;
}

void SyncPanel::State::draw_summary(PanelContext& context, const SyncViewModel& view_model) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  bool is_first = true;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  // Adds a name and value to the current line, or to a new line if they do not fit.
  const auto stat = [&](const char* name, const std::string& value, ImU32 colour,
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
    stat("critical path", duration_text(view_model.costs.length), theme.ink,
         "Sum of the medians along the longest dependency chain: a lower bound for replay "
         "durations.");
  } else {
    stat("costs", "unknown (no samples)", theme.ink_soft,
         "Costs require node timings; the selected range has none.");
  }
  if (view_model.has_times && view_model.costliest_edge == kNone && !graph.record().edges.empty()) {
    stat("order", "cannot be improved", theme.ink,
         view_model.costs.busy >= view_model.costs.length
             ? "The nodes keep the device busy for as long as the critical path."
             : "Without any single edge that is not data flow, a new schedule takes as long.");
  }
  if (view_model.costliest_edge != kNone) {
    const trace::Edge& e = graph.record().edges[view_model.costliest_edge];
    const std::string text = std::to_string(e.from) + " " + shortened(graph.node_name(e.from), 20) +
                             " -> " + std::to_string(e.to) + " " +
                             shortened(graph.node_name(e.to), 20) + ", " +
                             duration_text(view_model.costs.edges[view_model.costliest_edge].cost);
    if (stat("costliest edge", text, theme.accent,
             "The edge whose removal shortens the replay most, by a new schedule. Data flow is not "
             "considered. Click to select.")) {
      context.view.select(model::SelectedEdge{graph.key(), view_model.costliest_edge});
    }
  }
  if (view_model.costliest_barrier != kNone) {
    const std::string text =
        barrier_text(graph, view_model.costliest_barrier) + ", " +
        duration_text(view_model.costs.barriers[view_model.costliest_barrier].cost);
    if (stat("costliest barrier", text, theme.accent,
             "The barrier whose removal shortens the replay most, by a new schedule. Click to "
             "select.")) {
      context.view.select(model::SelectedBarrier{graph.key(), view_model.costliest_barrier});
    }
  }
  const auto& lane = view_model.causes[static_cast<std::size_t>(trace::EdgeCause::Lane)];
  const auto& entry_exit = view_model.causes[static_cast<std::size_t>(trace::EdgeCause::EntryExit)];
  if (view_model.has_times && lane.edges + entry_exit.edges != 0) {
    stat("false dependencies",
         "lanes " + duration_text(lane.cost) + ", entry/exit " + duration_text(entry_exit.cost),
         lane.cost > 0 ? theme.warning : theme.ink,
         "Reduction of the replay without all lane edges, and without all entry/exit edges.");
  }
  if (!graph.record().barriers.empty()) {
    stat("redundant barriers", count_text(view_model.redundant_barriers),
         view_model.redundant_barriers != 0 ? theme.warning : theme.ink,
         "Barriers that create no edge or only redundant edges. They can be removed.");
  }
  const auto list = found.value();
  const auto hazards = list ? std::count_if(list->begin(), list->end(),
                                            [](const Finding& f) { return is_hazard(f); })
                            : 0;
  stat("unordered accesses", count_text(static_cast<std::uint64_t>(hazards)),
       hazards != 0 ? theme.error : theme.ink,
       "Unordered conflicting accesses reported by full validation. Other validation levels do not "
       "detect them.");
}

void SyncPanel::State::draw_table(PanelContext& context, const SyncViewModelPointer& view_model,
                                  ImVec2 size) {
  const Theme& theme = context.theme;
  switch (tab) {
    case SyncTab::Edges: {
      if (view_model->graph->record().edges.empty())
        return draw_empty(theme, "No edges", "The nodes of this graph are independent.");
      const ShownGaps shown{
          requested_gaps.block && context.replay && context.replay->block == requested_gaps.block
              ? gaps.value(requested_gaps)
              : nullptr,
          requested_medians.graph == view_model->graph ? shown_medians : nullptr};
      edges.draw(context, view_model, shown, filter, size);
      break;
    }
    case SyncTab::Barriers:
      if (view_model->graph->record().barriers.empty()) {
        return draw_empty(theme, "No barriers",
                          view_model->graph->record().ordering == 0
                              ? "Ordering is inferred from accesses; barriers are not needed."
                              : "The program recorded no barriers.");
      }
      barriers.draw(context, view_model, size);
      break;
    case SyncTab::Findings: {
      const auto list = found.value();
      if (!list || list->empty()) {
        return draw_empty(theme, "No findings",
                          "Full validation reports hazards and redundant barriers in the trace.");
      }
      viewer::draw_findings(context, *list, size);
      break;
    }
  }
}

void SyncPanel::draw(PanelContext& context) {
  if (!context.entry) {
    draw_empty(context.theme, "No graph yet",
               "Edges and barriers appear when the trace contains a graph.");
    return;
  }
  State& s = *state_;
  const Theme& theme = context.theme;
  s.request(context);
  const SyncViewModelPointer view_model = s.costs.value();
  if (!view_model || view_model->graph != context.entry->graph)
    return draw_busy(theme, "Computing edge costs");
  s.follow_selection(context);
  s.draw_bar(context, *view_model);
  s.draw_summary(context, *view_model);
  const float height = ImGui::GetContentRegionAvail().y;
  const bool has_detail = s.tab != SyncTab::Findings && height > 220 * theme.scale;
  const float detail = has_detail ? std::clamp(std::floor(height * s.detail_fraction),
                                               100 * theme.scale, height - 110 * theme.scale)
                                  : 0;
  const ImVec2 size{ImGui::GetContentRegionAvail().x,
                    height - (has_detail ? detail + theme.splitter + theme.half_space : 0)};
  ImGui::BeginChild("tables", size);
  s.draw_table(context, view_model, {0, 0});
  ImGui::EndChild();
  if (!has_detail) return;
  const ImVec2 line = ImGui::GetItemRectMin();
  const SplitterMove move =
      draw_splitter(theme, "detail line", SplitterAxis::Level, {line.x, line.y + size.y},
                    {line.x + size.x, line.y + size.y + theme.splitter});
  s.detail_fraction =
      move.reset ? kDetailFraction : std::clamp(s.detail_fraction - move.by / height, 0.1f, 0.8f);
  ImGui::SetCursorScreenPos({line.x, line.y + size.y + theme.splitter + theme.half_space});
  if (const auto barrier =
          s.detail.draw(context, *view_model, {size.x, ImGui::GetContentRegionAvail().y})) {
    s.filter.barrier = *barrier;
    s.tab = SyncTab::Edges;
  }
}

}  // namespace reprise::viewer

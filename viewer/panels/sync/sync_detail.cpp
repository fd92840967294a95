#include "panels/sync/sync_detail.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "panels/sync/sync_tables.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

void wrapped_text(const std::string& text, ImU32 colour) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

void node_button(PanelContext& context, const model::Graph& graph, const char* id,
                 std::uint32_t node) {
  const model::Selection selection = model::SelectedNode{graph.key(), node};
  ImGui::PushID(id);
  if (ImGui::SmallButton(shortened(node_text(graph, node), 30).c_str()))
    context.view.select(selection);
  if (ImGui::IsItemHovered()) context.view.hovered = selection;
  tooltip("Select node");
  ImGui::PopID();
}

std::string cost_text(const SyncViewModel& view_model, double cost, const char* subject) {
  if (!view_model.has_times) return "Cost unknown: no samples.";
  if (!(cost > 0)) return std::string("Removing ") + subject + " does not shorten the replay.";
  return std::string("Removing ") + subject + " saves about " + duration_text(cost) + " (" +
         percent_text(cost / view_model.costs.estimate()) + " of the critical path).";
}

// The gain without the edge, or why there is none.
std::string gain_text(const SyncViewModel& view_model, std::uint32_t edge) {
  if (!view_model.has_times) return "Cost unknown: no samples.";
  const model::Graph& graph = *view_model.graph;
  const trace::Edge& e = graph.record().edges[edge];
  if (model::is_data_flow(e)) {
    return "This order cannot be improved: " + shortened(graph.node_name(e.to), 40) +
           " reads what " + shortened(graph.node_name(e.from), 40) + " writes.";
  }
  std::string text;
  switch (no_gain(view_model, edge)) {
    case NoGain::None:
      text = cost_text(view_model, view_model.costs.edges[edge].cost, "this edge");
      text += e.hazard == trace::Hazard::None
                  ? " Only these two nodes may overlap then; all others keep their order."
                  : " A second buffer removes it; all other nodes keep their order.";
      return text;
    case NoGain::NotCritical: return "No gain without this edge: it is not on the critical path.";
    case NoGain::DeviceBusy:
      return "This order cannot be improved: the nodes keep the device busy for as long as the "
             "critical path.";
    case NoGain::NodesFillDevice:
      return "This order cannot be improved: each of the two nodes fills the device.";
    case NoGain::OtherPath: break;
  }
  return "No gain without this edge: another path is as long.";
}

}  // namespace

std::optional<std::uint32_t> SyncDetail::draw(PanelContext& context,
                                              const SyncViewModel& view_model, ImVec2 size) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const auto* edge = std::get_if<model::SelectedEdge>(&context.view.selection);
  const auto* barrier = std::get_if<model::SelectedBarrier>(&context.view.selection);
  const auto* node = std::get_if<model::SelectedNode>(&context.view.selection);
  if (edge && (edge->graph != graph.key() || edge->edge >= graph.record().edges.size()))
    edge = nullptr;
  if (barrier &&
      (barrier->graph != graph.key() || barrier->barrier >= graph.record().barriers.size()))
    barrier = nullptr;
  if (node && (node->graph != graph.key() || node->node >= graph.node_count())) node = nullptr;
  const model::SelectedEdge costliest{graph.key(), view_model.costliest_edge};
  const bool has_selection = edge || barrier || node;
  if (!has_selection && view_model.costliest_edge != kNone) edge = &costliest;
  if (!edge && !barrier && !node) {
    ImGui::BeginChild("detail", size);
    draw_empty(theme, "No edge or barrier selected",
               "Select a row to see its nodes in the shown replay and how long they waited.");
    ImGui::EndChild();
    return std::nullopt;
  }
  std::optional<std::uint32_t> requested;
  std::vector<std::uint32_t> edges;
  const float text_width = std::min(380 * theme.scale, size.x * 0.42f);
  ImGui::BeginChild("detail", {text_width, size.y});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme.half_space, theme.half_space * 0.75f});
  if (!has_selection) wrapped_text("Costliest edge (nothing selected):", theme.ink_soft);
  if (edge) {
    draw_edge(context, view_model, edge->edge);
    edges = {edge->edge};
  } else if (barrier) {
    requested = draw_barrier(context, view_model, barrier->barrier);
    const auto own = view_model.edges_of(barrier->barrier);
    edges.assign(own.begin(), own.end());
  } else {
    draw_node(context, view_model, node->node);
    for (const model::Neighbour& p : graph.predecessors(node->node)) edges.push_back(p.edge);
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
  ImGui::SameLine(0, theme.space);
  ImGui::BeginChild("chart", {size.x - text_width - theme.space, size.y});
  draw_chart(context, std::move(edges));
  ImGui::EndChild();
  return requested;
}

void SyncDetail::draw_chart(PanelContext& context, std::vector<std::uint32_t> edges) {
  const Theme& theme = context.theme;
  if (!context.replay || !context.replay->block)
    return draw_empty(theme, "No node timings", "Select a sampled replay in the replay strip.");
  update(context, std::move(edges));
  if (chart_edges_.empty()) return draw_empty(theme, "No predecessors");
  if (waits_.before.empty() && waits_.after.empty())
    return draw_empty(theme, "No samples for these nodes in this replay");
  draw_wait_chart(context, waits_, ImGui::GetContentRegionAvail());
}

void SyncDetail::update(const PanelContext& context, std::vector<std::uint32_t> edges) {
  if (chart_edges_ == edges && chart_block_ == context.replay->block) return;
  chart_edges_ = std::move(edges);
  chart_block_ = context.replay->block;
  waits_ = wait_times(*context.graph(), context.replay->times, chart_edges_);
}

void SyncDetail::draw_edge(PanelContext& context, const SyncViewModel& view_model,
                           std::uint32_t edge) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Edge& e = graph.record().edges[edge];
  node_button(context, graph, "from", e.from);
  ImGui::SameLine();
  wrapped_text("before", theme.ink_soft);
  ImGui::SameLine();
  node_button(context, graph, "to", e.to);
  wrapped_text(edge_reason(graph, edge), theme.ink);
  if (e.cause == trace::EdgeCause::Lane) {
    wrapped_text(
        "False dependency: the nodes share only a lane. More lanes may let them run concurrently.",
        theme.warning);
  } else if (e.cause == trace::EdgeCause::EntryExit) {
    wrapped_text("False dependency: edge of the entry or exit kernel.", theme.ink_soft);
  }
  wrapped_text(gain_text(view_model, edge), theme.ink);
  if (view_model.edge_redundancy[edge] == Redundancy::Full)
    wrapped_text("Redundant: other edges already order these nodes.", theme.warning);
  if (view_model.edge_redundancy[edge] == Redundancy::ByLowering)
    wrapped_text("Redundant only because lane or entry/exit edges order the same nodes.",
                 theme.ink_soft);
  if (!context.replay || !context.replay->block || !waits_.last || !waits_.first) return;
  if (waits_.started < waits_.released) {
    return wrapped_text(
        "The nodes overlap in this replay: the clocks are imprecise, or the sample of the earlier "
        "node extends past its end.",
        theme.warning);
  }
  wrapped_text(
      waits_.other_ended_last
          ? "In this replay another predecessor (pale) ended later and determined the start."
          : "In this replay this edge determined the start. The rest of the gap is the cost of "
            "starting a node or a busy worker.",
      theme.ink_soft);
}

void SyncDetail::draw_node(PanelContext& context, const SyncViewModel& view_model,
                           std::uint32_t node) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  wrapped_text("Predecessors of " + node_text(graph, node), theme.ink);
  const auto before = graph.predecessors(node);
  wrapped_text(
      count_text(before.size()) + (before.size() == 1 ? " incoming edge" : " incoming edges"),
      theme.ink_soft);
  std::uint32_t costliest = kNone;
  for (const model::Neighbour& p : before) {
    if (view_model.costs.edges[p.edge].cost >
        (costliest == kNone ? 0 : view_model.costs.edges[costliest].cost))
      costliest = p.edge;
  }
  if (costliest == kNone) return;
  wrapped_text(
      cost_text(view_model, view_model.costs.edges[costliest].cost, "the costliest incoming edge"),
      theme.ink);
  if (ImGui::SmallButton(
          ("after " + shortened(node_text(graph, graph.record().edges[costliest].from), 36))
              .c_str())) {
    context.view.select(model::SelectedEdge{graph.key(), costliest});
  }
}

std::optional<std::uint32_t> SyncDetail::draw_barrier(PanelContext& context,
                                                      const SyncViewModel& view_model,
                                                      std::uint32_t barrier) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Barrier& b = graph.record().barriers[barrier];
  const model::BarrierCost& cost = view_model.costs.barriers[barrier];
  std::optional<std::uint32_t> requested;
  wrapped_text("Barrier at " + barrier_text(graph, barrier), theme.ink);
  const std::string on = b.buffer == kNone
                             ? "all memory"
                             : graph.buffer_name(b.buffer) + " [" + count_text(b.begin) + ", " +
                                   count_text(b.end) + ")";
  wrapped_text(access_text(b) + ", on " + on, theme.ink_soft);
  const Redundancy redundancy = view_model.barrier_redundancy[barrier];
  if (redundancy == Redundancy::Full) {
    wrapped_text(cost.edges == 0
                     ? "Redundant: the barrier creates no edge. It can be removed."
                     : "Redundant: other edges order the same nodes. It can be removed.",
                 theme.warning);
  } else {
    wrapped_text(cost_text(view_model, cost.cost, "this barrier"), theme.ink);
    if (redundancy == Redundancy::ByLowering)
      wrapped_text("Required, although lane or entry/exit edges order the same nodes.",
                   theme.ink_soft);
  }
  if (cost.edges != 0 &&
      ImGui::SmallButton(
          ("Show " + count_text(cost.edges) + (cost.edges == 1 ? " edge" : " edges")).c_str()))
    requested = barrier;
  return requested;
}

}  // namespace reprise::viewer

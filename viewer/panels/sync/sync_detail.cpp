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

void words(const std::string& text, ImU32 colour) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

void node_button(PanelContext& context, const model::Graph& graph, const char* id,
                 std::uint32_t node) {
  const model::Selection what = model::SelectedNode{graph.key(), node};
  ImGui::PushID(id);
  if (ImGui::SmallButton(shortened(node_text(graph, node), 30).c_str())) context.view.select(what);
  if (ImGui::IsItemHovered()) context.view.hovered = what;
  tooltip("Select this node");
  ImGui::PopID();
}

std::string cost_text(const SyncViewModel& view_model, double cost, const char* without) {
  if (!view_model.has_times) return "Nothing was measured: what it costs is unknown.";
  if (!(cost > 0)) return std::string("Without ") + without + " the longest way would be as long.";
  return std::string("Without ") + without + " the longest way would be " + duration_text(cost) +
         " shorter, " + percent_text(cost / view_model.costs.length) + " of it.";
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
  const model::SelectedEdge dearest{graph.key(), view_model.costliest_edge};
  const bool is_chosen = edge || barrier || node;
  if (!is_chosen && view_model.costliest_edge != kNone) edge = &dearest;
  if (!edge && !barrier && !node) {
    ImGui::BeginChild("detail", size);
    draw_empty(theme, "No edge and no barrier is selected",
               "A click on a row shows the nodes on both sides of it in the replay that is shown, "
               "and how long they waited.");
    ImGui::EndChild();
    return std::nullopt;
  }
  std::optional<std::uint32_t> wanted;
  std::vector<std::uint32_t> edges;
  const float text_width = std::min(380 * theme.scale, size.x * 0.42f);
  ImGui::BeginChild("detail", {text_width, size.y});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme.half_space, theme.half_space * 0.75f});
  if (!is_chosen) words("The dearest edge (select another, a barrier, or a node):", theme.ink_soft);
  if (edge) {
    draw_edge(context, view_model, edge->edge);
    edges = {edge->edge};
  } else if (barrier) {
    wanted = draw_barrier(context, view_model, barrier->barrier);
    const auto own = view_model.edges_of(barrier->barrier);
    edges.assign(own.begin(), own.end());
  } else {
    draw_node(context, view_model, node->node);
    for (const model::Neighbour& p : graph.predecessors(node->node)) edges.push_back(p.edge);
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
  ImGui::SameLine(0, theme.space);
  ImGui::BeginChild("picture", {size.x - text_width - theme.space, size.y});
  draw_picture(context, std::move(edges));
  ImGui::EndChild();
  return wanted;
}

void SyncDetail::draw_picture(PanelContext& context, std::vector<std::uint32_t> edges) {
  const Theme& theme = context.theme;
  if (!context.replay || !context.replay->block)
    return draw_empty(theme, "No replay with node times is shown",
                      "Choose one in the strip of replays.");
  update(context, std::move(edges));
  if (seen_edges_.empty()) return draw_empty(theme, "There is nothing to wait for");
  if (waits_.before.empty() && waits_.after.empty())
    return draw_empty(theme, "The nodes on both sides have no time in this replay");
  draw_wait_picture(context, waits_, ImGui::GetContentRegionAvail());
}

void SyncDetail::update(const PanelContext& context, std::vector<std::uint32_t> edges) {
  if (seen_edges_ == edges && seen_block_ == context.replay->block) return;
  seen_edges_ = std::move(edges);
  seen_block_ = context.replay->block;
  waits_ = wait_times(*context.graph(), context.replay->times, seen_edges_);
}

void SyncDetail::draw_edge(PanelContext& context, const SyncViewModel& view_model,
                           std::uint32_t edge) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Edge& e = graph.record().edges[edge];
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  node_button(context, graph, "from", e.from);
  ImGui::SameLine();
  words("before", theme.ink_soft);
  ImGui::SameLine();
  node_button(context, graph, "to", e.to);
  words(edge_reason(graph, edge), theme.ink);
  if (e.cause == trace::EdgeCause::Lane) {
    words(
        "A false dependency: the two share nothing but a lane. More lanes could let them run side "
        "by side.",
        theme.warning);
  } else if (e.cause == trace::EdgeCause::EntryExit) {
    words("The frame of the graph: its begin comes before everything, its end after everything.",
          theme.ink_soft);
  }
  words(cost_text(view_model, cost.cost, "it"), theme.ink);
  if (view_model.edge_needs[edge] == Need::None)
    words("It orders nothing: what else these two need puts them in order already.", theme.warning);
  if (view_model.edge_needs[edge] == Need::ByLanes)
    words("Lanes or the frame order these two as well.", theme.ink_soft);
  if (!context.replay || !context.replay->block || !waits_.last || !waits_.first) return;
  if (waits_.began < waits_.released) {
    return words(
        "In the replay shown the two overlapped: times are only as exact as their clocks, or the "
        "node before was measured beyond its end.",
        theme.warning);
  }
  words(waits_.is_overtaken ? "In the replay shown another predecessor (pale) ended later: this "
                              "edge is not what was waited for."
                            : "In the replay shown it was what was waited for last; what is left "
                              "of the gap is the launch, or a worker that was busy.",
        theme.ink_soft);
}

void SyncDetail::draw_node(PanelContext& context, const SyncViewModel& view_model,
                           std::uint32_t node) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  words("What " + node_text(graph, node) + " waits for", theme.ink);
  const auto before = graph.predecessors(node);
  words(
      count_text(before.size()) + (before.size() == 1 ? " edge leads to it" : " edges lead to it"),
      theme.ink_soft);
  std::uint32_t dearest = kNone;
  for (const model::Neighbour& p : before) {
    if (view_model.costs.edges[p.edge].cost >
        (dearest == kNone ? 0 : view_model.costs.edges[dearest].cost))
      dearest = p.edge;
  }
  if (dearest == kNone) return;
  words(cost_text(view_model, view_model.costs.edges[dearest].cost, "the dearest of them"),
        theme.ink);
  if (ImGui::SmallButton(
          ("after " + shortened(node_text(graph, graph.record().edges[dearest].from), 36))
              .c_str())) {
    context.view.select(model::SelectedEdge{graph.key(), dearest});
  }
}

std::optional<std::uint32_t> SyncDetail::draw_barrier(PanelContext& context,
                                                      const SyncViewModel& view_model,
                                                      std::uint32_t barrier) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Barrier& b = graph.record().barriers[barrier];
  const model::BarrierCost& cost = view_model.costs.barriers[barrier];
  std::optional<std::uint32_t> wanted;
  words("Barrier at " + barrier_text(graph, barrier), theme.ink);
  const std::string on = b.buffer == kNone
                             ? "all memory"
                             : graph.buffer_name(b.buffer) + " [" + count_text(b.begin) + ", " +
                                   count_text(b.end) + ")";
  words(access_text(b) + ", on " + on, theme.ink_soft);
  const Need need = view_model.barrier_needs[barrier];
  if (need == Need::None) {
    words(cost.edges == 0 ? "It orders nothing: no edge exists because of it. It can be removed."
                          : "It orders nothing that is not ordered without it. It can be removed.",
          theme.warning);
  } else {
    words(cost_text(view_model, cost.cost, "it"), theme.ink);
    if (need == Need::ByLanes)
      words("It is needed, but the lanes of this graph order the same nodes.", theme.ink_soft);
  }
  if (cost.edges != 0 &&
      ImGui::SmallButton(
          ("show its " + count_text(cost.edges) + (cost.edges == 1 ? " edge" : " edges")).c_str()))
    wanted = barrier;
  return wanted;
}

}  // namespace reprise::viewer

#include "panels/inspector/inspector_order.hpp"

#include <string>
#include <vector>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string bytes_range(const model::Graph& graph, std::uint32_t buffer, std::uint64_t begin,
                        std::uint64_t end) {
  return end > begin ? range_text(begin, end, graph.record().buffers[buffer].bytes) : std::string();
}

const char* kCost =
    "How much shorter the longest path would be without it, if every node still took its median.";

std::string cost_text(double cost) { return cost > 0 ? duration_text(cost) : "nothing"; }

void draw_end(PanelContext& context, const char* what, std::uint32_t node) {
  draw_note(context.theme, what);
  ImGui::PushID(what);
  const bool has_time = context.view_model != nullptr && node < context.view_model->nodes.size() &&
                        context.view_model->nodes[node].count != 0;
  draw_node_link(context, node,
                 has_time ? duration_text(context.view_model->nodes[node].median) : "");
  ImGui::PopID();
}

}  // namespace

std::shared_ptr<const OrderPage::Costs> OrderPage::ask(const PanelContext& context) {
  if (context.view_model == nullptr || context.view_model->samples == 0) return nullptr;
  if (const ViewModelMark mark = mark_of(context); !(mark == asked_)) {
    asked_ = mark;
    costs_.ask(mark, [graph = context.entry->graph, medians = context.view_model->medians] {
      return Costs{graph->key(), model::sync_costs(*graph, medians)};
    });
  }
  auto costs = costs_.value();
  return costs && costs->graph == context.graph()->key() ? costs : nullptr;
}

void OrderPage::draw_barrier(PanelContext& context, std::uint32_t number) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  const trace::Barrier& barrier = graph.record().barriers[number];
  const std::string place = place_text(graph, barrier.file, barrier.line);
  draw_title(theme, "barrier " + count_text(number) + " of " + graph.name(),
             place.empty() ? "Barrier " + count_text(number) : place);
  if (draw_action(theme, "Sync", "Show it among the barriers"))
    context.view.upper = UpperTab::Sync, context.view.reveal_selection = true;
  const auto costs = ask(context);
  if (draw_section(theme, "What it orders")) {
    draw_mono(theme, "Source", place,
              barrier.line == 0 ? "" : graph.record().strings[barrier.file].c_str());
    draw_mono(theme, "Command", count_text(barrier.command), "Its number in the command buffer.");
    draw_value(theme, "Label", graph.label_path(barrier.label));
    draw_value(theme, "Before it", std::string(access_name(barrier.before)) + " are waited for");
    const bool is_programmatic = barrier.dependency == trace::Dependency::Programmatic;
    draw_value(theme, "After it",
               std::string(access_name(barrier.after)) +
                   (is_programmatic ? " of kernels that start early wait" : " wait"));
    if (barrier.buffer == trace::kNone) {
      draw_value(theme, "Buffer", "all of them");
    } else {
      draw_mono(theme, "Range", bytes_range(graph, barrier.buffer, barrier.begin, barrier.end));
      draw_buffer_link(context, barrier.buffer,
                       bytes_text(graph.record().buffers[barrier.buffer].bytes));
    }
  }
  if (draw_section(theme, "What it costs")) {
    if (costs == nullptr) {
      draw_note(theme, context.view_model != nullptr && context.view_model->samples == 0
                           ? "Nothing was measured, so its cost is unknown."
                           : "Its cost is being worked out.");
    } else {
      const model::BarrierCost& cost = costs->of.barriers[number];
      draw_mono(theme, "Cost", cost_text(cost.cost), kCost);
      draw_mono(theme, "Edges",
                count_text(cost.edges) + ", " + count_text(cost.critical_edges) + " critical, " +
                    count_text(cost.implied_edges) + " implied",
                "Critical: on a longest path. Implied: other edges order the same nodes already.");
      if (cost.orders_nothing())
        draw_note(theme, "It orders nothing that is not ordered without it: it could be left out.");
    }
  }
  std::vector<std::uint32_t> edges;
  for (std::uint32_t e = 0; e < graph.record().edges.size(); ++e) {
    if (graph.record().edges[e].barrier == number) edges.push_back(e);
  }
  if (!draw_section(theme, "Edges that it made", count_text(edges.size()))) return;
  if (edges.empty()) draw_note(theme, "None: nothing before it conflicts with what is after it.");
  draw_list(theme, "edges", edges.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::Edge& edge = graph.record().edges[edges[i]];
    const model::Selection selected = model::SelectedEdge{graph.key(), edges[i]};
    const std::string cost = costs != nullptr && costs->of.edges[edges[i]].cost > 0
                                 ? duration_text(costs->of.edges[edges[i]].cost)
                                 : "";
    if (draw_link(theme, {graph.node_name(edge.from) + "  to  " + graph.node_name(edge.to), cost,
                          edge_reason(graph, edges[i]), cause_colour(theme, edge.cause),
                          context.view.selection == selected})) {
      context.view.select(selected);
    }
    if (ImGui::IsItemHovered()) context.view.hovered = selected;
  });
}

void OrderPage::draw_edge(PanelContext& context, std::uint32_t number) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  const trace::Edge& edge = graph.record().edges[number];
  draw_title(theme, "edge of " + graph.name(), edge_reason(graph, number),
             cause_colour(theme, edge.cause));
  if (draw_section(theme, "Between")) {
    draw_end(context, "This runs first", edge.from);
    draw_end(context, "This waits for it", edge.to);
  }
  if (draw_section(theme, "Why it exists", cause_name(edge.cause))) {
    draw_value(theme, "Cause", cause_name(edge.cause));
    if (edge.hazard != trace::Hazard::None) draw_value(theme, "Hazard", hazard_name(edge.hazard));
    if (edge.buffer != trace::kNone) {
      draw_mono(theme, "Bytes", bytes_range(graph, edge.buffer, edge.begin, edge.end),
                "That both of them touch.");
      draw_buffer_link(context, edge.buffer, bytes_text(graph.record().buffers[edge.buffer].bytes));
    }
    if (edge.cause == trace::EdgeCause::Lane)
      draw_note(theme,
                "Nothing needs it: it keeps the nodes of one lane in order, so that fewer edges "
                "are needed elsewhere.");
    if (edge.cause == trace::EdgeCause::EntryExit)
      draw_note(theme, "Nothing needs it: it belongs to the frame around every replay.");
    if (edge.barrier != trace::kNone) {
      const trace::Barrier& barrier = graph.record().barriers[edge.barrier];
      const std::string place = place_text(graph, barrier.file, barrier.line);
      const model::Selection selected = model::SelectedBarrier{graph.key(), edge.barrier};
      if (draw_link(theme, {"barrier " + count_text(edge.barrier), place}))
        context.view.select(selected);
      if (ImGui::IsItemHovered()) context.view.hovered = selected;
    }
  }
  if (!draw_section(theme, "What it costs")) return;
  const auto costs = ask(context);
  if (costs == nullptr) {
    draw_note(theme, context.view_model != nullptr && context.view_model->samples == 0
                         ? "Nothing was measured, so its cost is unknown."
                         : "Its cost is being worked out.");
    return;
  }
  const model::EdgeCost& cost = costs->of.edges[number];
  draw_mono(theme, "Cost", cost_text(cost.cost), kCost);
  draw_value(theme, "Critical", cost.is_critical ? "on a longest path" : "not on a longest path");
  if (cost.is_implied) draw_note(theme, "Other edges order the same two nodes already.");
}

}  // namespace reprise::viewer

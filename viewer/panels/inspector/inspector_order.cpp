#include "panels/inspector/inspector_order.hpp"

#include <string>
#include <utility>
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

const char* cost_placeholder(const PanelContext& context) {
  return context.view_model != nullptr && context.view_model->samples == 0
             ? "Not measured: the cost is unknown."
             : "Computing the cost.";
}

constexpr const char* kCost =
    "Estimated reduction of the replay if it were removed, by a new schedule with median node "
    "durations.";

std::string cost_text(double cost) { return cost > 0 ? duration_text(cost) : "none"; }

void draw_end(PanelContext& context, const char* name, std::uint32_t node) {
  draw_note(context.theme, name);
  ImGui::PushID(name);
  const bool has_time = context.view_model != nullptr && node < context.view_model->nodes.size() &&
                        context.view_model->nodes[node].count != 0;
  draw_node_link(context, node,
                 has_time ? duration_text(context.view_model->nodes[node].median) : "");
  ImGui::PopID();
}

}  // namespace

std::shared_ptr<const OrderPage::Costs> OrderPage::request_costs(const PanelContext& context) {
  if (context.view_model == nullptr || context.view_model->samples == 0) return nullptr;
  if (const GraphViewModelKey key = graph_view_model_key(context); !(key == requested_)) {
    requested_ = key;
    const auto found = context.document->devices->find(context.graph()->record().device);
    auto demand = model::device_demand(
        *context.graph(), found == context.document->devices->end() ? nullptr : &found->second);
    costs_.ask(key, [graph = context.entry->graph, medians = context.view_model->medians,
                     demand = std::move(demand)] {
      return Costs{graph->key(), model::sync_costs(*graph, medians, demand)};
    });
  }
  auto costs = costs_.value();
  return costs && costs->graph == context.graph()->key() ? costs : nullptr;
}

void OrderPage::draw_barrier(PanelContext& context, std::uint32_t number) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  const trace::Barrier& barrier = graph.record().barriers[number];
  const std::string location = source_location_text(graph, barrier.file, barrier.line);
  draw_title(theme, "barrier " + count_text(number) + " of " + graph.name(),
             location.empty() ? "Barrier " + count_text(number) : location);
  if (draw_action(theme, "Sync", "Show in the sync panel"))
    context.view.show(View::Sync), context.view.reveal_selection = true;
  const auto costs = request_costs(context);
  if (draw_section(theme, "Scope")) {
    draw_mono(theme, "Source", location,
              barrier.line == 0 ? "" : graph.record().strings[barrier.file].c_str());
    draw_mono(theme, "Command", count_text(barrier.command), "Index in the command buffer.");
    draw_value(theme, "Label", graph.label_path(barrier.label));
    draw_value(theme, "Access before", access_name(barrier.before));
    const bool is_programmatic = barrier.dependency == trace::Dependency::Programmatic;
    draw_value(theme, "Access after",
               std::string(access_name(barrier.after)) +
                   (is_programmatic ? " (programmatic dependency)" : ""));
    if (barrier.buffer == trace::kNone) {
      draw_value(theme, "Buffer", "all buffers");
    } else {
      draw_mono(theme, "Range", bytes_range(graph, barrier.buffer, barrier.begin, barrier.end));
      draw_buffer_link(context, barrier.buffer,
                       bytes_text(graph.record().buffers[barrier.buffer].bytes));
    }
  }
  if (draw_section(theme, "Impact")) {
    if (costs == nullptr) {
      draw_note(theme, cost_placeholder(context));
    } else {
      const model::BarrierCost& cost = costs->costs.barriers[number];
      draw_mono(theme, "Cost", cost_text(cost.cost), kCost);
      draw_mono(theme, "Edges",
                count_text(cost.edges) + ", " + count_text(cost.critical_edges) + " critical, " +
                    count_text(cost.redundant_edges) + " redundant",
                "Critical: on a critical path. Redundant: other edges order the same nodes.");
      if (cost.is_redundant()) draw_note(theme, "The barrier adds no ordering and can be removed.");
    }
  }
  std::vector<std::uint32_t> edges;
  for (std::uint32_t e = 0; e < graph.record().edges.size(); ++e) {
    if (graph.record().edges[e].barrier == number) edges.push_back(e);
  }
  if (!draw_section(theme, "Barrier edges", count_text(edges.size()))) return;
  if (edges.empty())
    draw_note(theme, "No access before the barrier conflicts with an access after it.");
  draw_list(theme, "edges", edges.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::Edge& edge = graph.record().edges[edges[i]];
    const model::Selection selected = model::SelectedEdge{graph.key(), edges[i]};
    const std::string cost = costs != nullptr && costs->costs.edges[edges[i]].cost > 0
                                 ? duration_text(costs->costs.edges[edges[i]].cost)
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
  if (draw_section(theme, "Nodes")) {
    draw_end(context, "From (runs first)", edge.from);
    draw_end(context, "To (waits)", edge.to);
  }
  if (draw_section(theme, "Reason", cause_text(edge.cause))) {
    draw_value(theme, "Cause", cause_text(edge.cause));
    if (edge.hazard != trace::Hazard::None) draw_value(theme, "Hazard", hazard_text(edge.hazard));
    if (edge.buffer != trace::kNone) {
      draw_mono(theme, "Bytes", bytes_range(graph, edge.buffer, edge.begin, edge.end),
                "Byte range that both nodes access.");
      draw_buffer_link(context, edge.buffer, bytes_text(graph.record().buffers[edge.buffer].bytes));
    }
    if (const trace::BlockRelation* relation = graph.relation(edge.from, edge.to))
      draw_value(theme, "Blocks", relation_text(*relation),
                 "Each block of the later node waits only for these blocks of the earlier one.");
    if (edge.cause == trace::EdgeCause::Lane)
      draw_note(theme,
                "Not required for correctness: the edge serialises a lane, which removes edges "
                "between lanes.");
    if (edge.cause == trace::EdgeCause::EntryExit)
      draw_note(theme, "Not required for correctness: the edge connects the entry or exit kernel.");
    if (edge.barrier != trace::kNone) {
      const trace::Barrier& barrier = graph.record().barriers[edge.barrier];
      const std::string location = source_location_text(graph, barrier.file, barrier.line);
      const model::Selection selected = model::SelectedBarrier{graph.key(), edge.barrier};
      if (draw_link(theme, {"barrier " + count_text(edge.barrier), location}))
        context.view.select(selected);
      if (ImGui::IsItemHovered()) context.view.hovered = selected;
    }
  }
  if (!draw_section(theme, "Impact")) return;
  const auto costs = request_costs(context);
  if (costs == nullptr) {
    draw_note(theme, cost_placeholder(context));
    return;
  }
  const model::EdgeCost& cost = costs->costs.edges[number];
  if (model::is_data_flow(edge)) {
    draw_value(theme, "Cost", "data flow: this order cannot be improved", kCost);
  } else {
    draw_mono(theme, "Cost", cost_text(cost.cost), kCost);
  }
  draw_value(theme, "Critical", cost.is_critical ? "on a critical path" : "not on a critical path");
  if (cost.is_redundant) draw_note(theme, "Redundant: other edges order the same nodes.");
}

}  // namespace reprise::viewer

#include "panels/sync/sync_tables.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

// Maximum length of a name in a cell; the tooltip has the full name.
constexpr std::size_t kMaxNameLength = 64;

const char* accesses_text(trace::Access access) {
  switch (access) {
    case trace::Access::None: return "nothing";
    case trace::Access::Read: return "reads";
    case trace::Access::Write: return "writes";
    case trace::Access::ReadWrite: return "any access";
  }
  return "";
}

std::string status_text(const SyncViewModel& view_model, std::uint32_t edge) {
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  const Redundancy redundancy = view_model.edge_redundancy[edge];
  const bool is_data_flow = model::is_data_flow(view_model.graph->record().edges[edge]);
  if (cost.is_critical && view_model.has_times)
    return redundancy == Redundancy::Full ? "critical, redundant"
           : is_data_flow                 ? "critical, data flow"
                                          : "critical";
  if (redundancy == Redundancy::Full) return "redundant";
  if (redundancy == Redundancy::ByLowering) return "redundant (lanes)";
  return is_data_flow ? "data flow" : "";
}

double max_edge_cost(const SyncViewModel& view_model) {
  return view_model.costliest_edge == kNone
             ? 0
             : view_model.costs.edges[view_model.costliest_edge].cost;
}

TableCell edge_cell(const Theme& theme, const SyncViewModel& view_model, const ShownGaps& gaps,
                    std::uint32_t edge, EdgeColumn column) {
  const model::Graph& graph = *view_model.graph;
  const trace::Edge& e = graph.record().edges[edge];
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  switch (column) {
    case EdgeColumn::From: return {.text = node_text(graph, e.from)};
    case EdgeColumn::To: return {.text = node_text(graph, e.to)};
    case EdgeColumn::Cause:
      return {.text = cause_text(e.cause), .swatch = cause_colour(theme, e.cause)};
    case EdgeColumn::Hazard:
      if (e.hazard == trace::Hazard::None) return {};
      return {.text = hazard_text(e.hazard), .colour = theme.ink_soft};
    case EdgeColumn::Buffer:
      return {.text = e.buffer == kNone ? std::string() : graph.buffer_name(e.buffer)};
    case EdgeColumn::Bytes: {
      if (e.end <= e.begin) return {};
      TableCell cell = bytes_cell(e.end - e.begin);
      cell.note = "bytes " + count_text(e.begin) + " to " + count_text(e.end) + " of " +
                  (e.buffer == kNone ? "memory" : graph.buffer_name(e.buffer));
      return cell;
    }
    case EdgeColumn::Cost: {
      if (!view_model.has_times) return {};
      const double max_cost = max_edge_cost(view_model);
      const bool is_gain = cost.cost > 0 && !model::is_data_flow(e);
      return {.text = cost.cost > 0 ? duration_text(cost.cost, std::max(max_cost, cost.cost)) : "0",
              .colour = is_gain ? theme.ink : theme.ink_faint,
              .number = cost.cost,
              .bar = is_gain && max_cost > 0 ? cost.cost / max_cost : 0,
              .bar_colour = theme.critical};
    }
    case EdgeColumn::Gap: {
      if (!gaps.of_replay || !(*gaps.of_replay)[edge].is_known) return {};
      const model::EdgeGap& gap = (*gaps.of_replay)[edge];
      return time_cell(static_cast<double>(gap.time), gap.is_latest ? theme.ink : theme.ink_faint);
    }
    case EdgeColumn::MedianGap: {
      if (!gaps.medians || gaps.medians->edges[edge].count == 0) return {};
      const model::MedianGap& gap = gaps.medians->edges[edge];
      TableCell cell = time_cell(gap.time);
      cell.note = gap.count == 1 ? "1 replay" : count_text(gap.count) + " replays";
      return cell;
    }
    case EdgeColumn::Status: break;
  }
  const bool is_critical = cost.is_critical && view_model.has_times;
  const Redundancy redundancy = view_model.edge_redundancy[edge];
  return {.text = status_text(view_model, edge),
          .colour = is_critical                            ? theme.ink
                    : redundancy == Redundancy::Full       ? theme.warning
                    : redundancy == Redundancy::ByLowering ? theme.ink_soft
                                                           : theme.ink_faint,
          .swatch = is_critical ? theme.critical : 0};
}

TableCell barrier_cell(const Theme& theme, const SyncViewModel& view_model, std::uint32_t barrier,
                       BarrierColumn column) {
  const model::Graph& graph = *view_model.graph;
  const trace::Barrier& b = graph.record().barriers[barrier];
  const model::BarrierCost& cost = view_model.costs.barriers[barrier];
  const Redundancy redundancy = view_model.barrier_redundancy[barrier];
  const bool is_redundant = redundancy == Redundancy::Full;
  const ImU32 ink = is_redundant ? theme.ink_soft : theme.ink;
  switch (column) {
    case BarrierColumn::Location: return {.text = barrier_text(graph, barrier), .colour = ink};
    case BarrierColumn::Label: return {.text = graph.label_path(b.label), .colour = theme.ink_soft};
    case BarrierColumn::Buffer:
      return {.text = b.buffer == kNone ? "all memory"
                                        : graph.buffer_name(b.buffer) + "  " + bytes_text(b.begin) +
                                              " to " + bytes_text(b.end),
              .colour = ink};
    case BarrierColumn::Access: return {.text = access_text(b), .colour = ink};
    case BarrierColumn::Edges: return count_cell(cost.edges, ink);
    case BarrierColumn::Critical:
      return count_cell(cost.critical_edges, cost.critical_edges == 0 ? theme.ink_faint : ink);
    case BarrierColumn::Cost: {
      if (!view_model.has_times) return {};
      const double max_cost = view_model.costliest_barrier == kNone
                                  ? 0
                                  : view_model.costs.barriers[view_model.costliest_barrier].cost;
      return {.text = cost.cost > 0 ? duration_text(cost.cost, max_cost) : "0",
              .colour = cost.cost > 0 ? ink : theme.ink_faint,
              .number = cost.cost,
              .bar = max_cost > 0 ? cost.cost / max_cost : 0,
              .bar_colour = theme.critical};
    }
    case BarrierColumn::Status: break;
  }
  if (is_redundant)
    return {.text = "redundant",
            .colour = theme.warning,
            .swatch = theme.warning,
            .note = cost.edges == 0
                        ? "The barrier creates no edge: no accesses conflict across it, "
                          "or they are already ordered."
                        : "Other edges order the same nodes."};
  if (redundancy == Redundancy::ByLowering)
    return {.text = "redundant (lanes)",
            .colour = theme.ink_soft,
            .note =
                "Required, but lane or entry/exit edges order the same nodes: no cost in this "
                "lowering."};
  return {};
}

}  // namespace

std::string node_text(const model::Graph& graph, std::uint32_t node) {
  return count_text(node) + "  " + shortened(graph.node_name(node), kMaxNameLength);
}

std::string barrier_text(const model::Graph& graph, std::uint32_t barrier) {
  const trace::Barrier& b = graph.record().barriers[barrier];
  const std::string location = source_location_text(graph, b.file, b.line);
  return location.empty() ? "barrier " + count_text(barrier) : location;
}

std::string access_text(const trace::Barrier& barrier) {
  return std::string(accesses_text(barrier.before)) + " before " + accesses_text(barrier.after) +
         (barrier.dependency == trace::Dependency::Programmatic ? ", programmatic" : "");
}

void EdgeTable::draw(PanelContext& context, const SyncViewModelPointer& view_model,
                     const ShownGaps& gaps, const EdgeFilter& filter, ImVec2 size) {
  static constexpr TableColumn kColumns[] = {
      {"from", "Node that must end first.", 22, ColumnAlign::Left},
      {"to", "Node that must start later.", 22, ColumnAlign::Left},
      {"cause",
       "Reason for the edge. Hazard: conflicting accesses. Barrier, user: added by the program. "
       "Lane, entry/exit: false dependencies added by lowering.",
       10, ColumnAlign::Left},
      {"cost",
       "Estimated reduction of the replay without this edge: a new schedule in which its two nodes "
       "may overlap and all other nodes keep their order, by the medians of the range. Faint for "
       "data flow, which no schedule can change.",
       11, ColumnAlign::Right, "ns"},
      {"gap",
       "In the shown replay: from the end of the earlier node to the start of the later node. "
       "Faint if another predecessor ended later.",
       11, ColumnAlign::Right, "ns"},
      {"median gap",
       "Median of the gap over the replays of the range in which this edge released the later "
       "node: no other predecessor ended later.",
       11, ColumnAlign::Right, "ns"},
      {"hazard", "Kind of conflict: read after write, write after read, write after write.", 14,
       ColumnAlign::Left},
      {"buffer", "Buffer of the conflict or of the barrier.", 16, ColumnAlign::Left},
      {"bytes", "Number of conflicting bytes.", 10, ColumnAlign::Right, "bytes"},
      {"status",
       "Critical: on the critical path. Redundant: other edges order the same nodes. Redundant "
       "(lanes): only lane or entry/exit edges of this lowering order the same nodes. Data flow: "
       "the later node reads what the earlier one writes.",
       19, ColumnAlign::Left},
  };
  const Theme& theme = context.theme;
  const ShownGaps sort_gaps{sort_.by == EdgeColumn::Gap ? gaps.of_replay : nullptr,
                            sort_.by == EdgeColumn::MedianGap ? gaps.medians : nullptr};
  const bool is_current = requested_.view_model == view_model && requested_.gaps == sort_gaps &&
                          requested_.filter == filter && requested_.order == sort_ &&
                          requested_.matches == context.matches;
  if (!is_current) {
    requested_ = {view_model, sort_gaps, filter, sort_, context.matches};
    order_.ask(requested_, [key = requested_] {
      return Rows{key.view_model,
                  ordered_edges(*key.view_model, key.gaps, key.filter, key.order, key.matches)};
    });
  }
  const auto rows = order_.value();
  const bool is_ready = rows && rows->view_model->graph == view_model->graph;
  rows_ = is_ready ? rows->edges.size() : 0;
  if (!begin_table(
          theme, context.view,
          {"edges by cost", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size}))
    return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<EdgeColumn>(sort.column), sort.is_descending};
  const TableContents contents{.name = "edges",
                               .columns = kColumns,
                               .rows = rows_,
                               .cell = [&](std::size_t row, std::size_t column) {
                                 return edge_cell(theme, *view_model, gaps, rows->edges[row],
                                                  static_cast<EdgeColumn>(column));
                               }};
  if (is_ready) {
    if (last_selection_ != context.view.selection || context.view.reveal_selection) {
      last_selection_ = context.view.selection;
      const auto first = std::find_if(rows->edges.begin(), rows->edges.end(), [&](std::uint32_t e) {
        return model::selects_edge(last_selection_, *view_model->graph, e);
      });
      if (first != rows->edges.end())
        reveal_row(static_cast<std::size_t>(first - rows->edges.begin()));
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->edges.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto row = static_cast<std::size_t>(i);
        draw_row(context, *view_model, contents, row, rows->edges[row]);
      }
    }
  }
  end_table(context.view, contents);
}

void EdgeTable::draw_row(PanelContext& context, const SyncViewModel& view_model,
                         const TableContents& contents, std::size_t row, std::uint32_t edge) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const model::Selection self = model::SelectedEdge{graph.key(), edge};
  const bool is_highlighted =
      context.view.hovered == self || model::selects_edge(context.view.selection, graph, edge);
  const RowInput input =
      begin_row(theme, static_cast<int>(edge), {context.view.selection == self, is_highlighted});
  if (input.is_clicked) context.view.select(self);
  if (input.is_hovered) context.view.hovered = self;
  draw_row_menu(context, self, row);
  draw_cells(theme, contents, row);
}

void BarrierTable::draw(PanelContext& context, const SyncViewModelPointer& view_model,
                        ImVec2 size) {
  static constexpr TableColumn kColumns[] = {
      {"barrier", "Source location of the barrier.", 20, ColumnAlign::Left},
      {"label", "Label of the barrier.", 20, ColumnAlign::Left},
      {"range", "Ordered byte range; all memory if the barrier names no buffer.", 24,
       ColumnAlign::Left},
      {"accesses", "Ordered accesses before and after the barrier.", 26, ColumnAlign::Left},
      {"edges", "Edges created by the barrier.", 7, ColumnAlign::Right},
      {"critical", "Its edges on the critical path.", 8, ColumnAlign::Right},
      {"cost",
       "Estimated reduction of the replay without this barrier: a new schedule in which the nodes "
       "on both sides of it may overlap, by the medians of the range.",
       11, ColumnAlign::Right, "ns"},
      {"status",
       "Redundant: creates no edge or only redundant edges; can be removed. Redundant (lanes): "
       "required, but lane or entry/exit edges of this lowering order the same nodes.",
       16, ColumnAlign::Left},
  };
  const Theme& theme = context.theme;
  const bool is_current = requested_.view_model == view_model && requested_.order == sort_ &&
                          requested_.matches == context.matches;
  if (!is_current) {
    requested_ = {view_model, sort_, context.matches};
    order_.ask(requested_, [key = requested_] {
      return Rows{key.view_model, ordered_barriers(*key.view_model, key.order, key.matches)};
    });
  }
  const auto rows = order_.value();
  if (!begin_table(theme, context.view,
                   {"barriers", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size}))
    return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<BarrierColumn>(sort.column), sort.is_descending};
  const bool is_ready = rows && rows->view_model->graph == view_model->graph;
  const TableContents contents{.name = "barriers",
                               .columns = kColumns,
                               .rows = is_ready ? rows->barriers.size() : 0,
                               .cell = [&](std::size_t row, std::size_t column) {
                                 return barrier_cell(theme, *view_model, rows->barriers[row],
                                                     static_cast<BarrierColumn>(column));
                               }};
  if (is_ready) {
    if (last_selection_ != context.view.selection || context.view.reveal_selection) {
      last_selection_ = context.view.selection;
      std::uint32_t barrier = kNone;
      if (const auto* b = std::get_if<model::SelectedBarrier>(&last_selection_))
        barrier = b->barrier;
      const auto found = std::find(rows->barriers.begin(), rows->barriers.end(), barrier);
      if (found != rows->barriers.end())
        reveal_row(static_cast<std::size_t>(found - rows->barriers.begin()));
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->barriers.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto row = static_cast<std::size_t>(i);
        draw_row(context, *view_model, contents, row, rows->barriers[row]);
      }
    }
  }
  end_table(context.view, contents);
}

void BarrierTable::draw_row(PanelContext& context, const SyncViewModel& view_model,
                            const TableContents& contents, std::size_t row, std::uint32_t barrier) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const model::Selection self = model::SelectedBarrier{graph.key(), barrier};
  bool is_highlighted = context.view.hovered == self;
  if (const auto* e = std::get_if<model::SelectedEdge>(&context.view.selection);
      e && e->graph == graph.key() && e->edge < graph.record().edges.size()) {
    is_highlighted = is_highlighted || graph.record().edges[e->edge].barrier == barrier;
  }
  const RowInput input =
      begin_row(theme, static_cast<int>(barrier), {context.view.selection == self, is_highlighted});
  if (input.is_clicked) context.view.select(self);
  if (input.is_hovered) context.view.hovered = self;
  draw_row_menu(context, self, row);
  draw_cells(theme, contents, row);
}

void draw_findings(PanelContext& context, const std::vector<Finding>& findings, ImVec2 size) {
  const Theme& theme = context.theme;
  ImGui::BeginChild("findings", size);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const trace::Message& m = finding.message;
    const ImU32 colour = m.severity == trace::Severity::Error     ? theme.error
                         : m.severity == trace::Severity::Warning ? theme.warning
                                                                  : theme.ink_soft;
    ImGui::PushID(static_cast<int>(i));
    ImGui::BeginGroup();
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted((std::string(m.severity == trace::Severity::Error     ? "error"
                                        : m.severity == trace::Severity::Warning ? "warning"
                                                                                 : "info") +
                            "  " + m.id)
                               .c_str());
    ImGui::PopStyleColor();
    if (m.graph == kNone) {
      ImGui::SameLine();
      ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
      ImGui::TextUnformatted("graph not compiled");
      ImGui::PopStyleColor();
    }
    const auto jump = [&](const char* id, const std::string& text,
                          const model::Selection& selection) {
      ImGui::SameLine();
      ImGui::PushID(id);
      if (ImGui::SmallButton(text.c_str())) context.view.select(selection);
      if (ImGui::IsItemHovered()) context.view.hovered = selection;
      ImGui::PopID();
    };
    const model::Graph& graph = *context.graph();
    if (finding.barrier != kNone)
      jump("barrier", barrier_text(graph, finding.barrier),
           model::SelectedBarrier{graph.key(), finding.barrier});
    if (finding.node != kNone)
      jump("node", "node " + node_text(graph, finding.node),
           model::SelectedNode{graph.key(), finding.node});
    if (finding.other_node != kNone)
      jump("other", "node " + node_text(graph, finding.other_node),
           model::SelectedNode{graph.key(), finding.other_node});
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(m.text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    ImGui::Separator();
    ImGui::PopID();
  }
  ImGui::EndChild();
}

}  // namespace reprise::viewer

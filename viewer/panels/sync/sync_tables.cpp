#include "panels/sync/sync_tables.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
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

void swatch(const Theme& theme, ImU32 colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), size = std::round(line * 0.62f),
              top = std::round(at.y + (line - size) / 2);
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, colour,
                                            2 * theme.scale);
  ImGui::SetCursorScreenPos({at.x + size + theme.half_space * 1.5f, at.y});
}

// Bar behind a number; `fraction` is relative to the column's maximum.
void fraction_bar(const Theme& theme, int column, double fraction, ImU32 colour) {
  if (!(fraction > 0) || !ImGui::TableSetColumnIndex(column)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float length = std::max(1.0f, width * static_cast<float>(std::min(fraction, 1.0)));
  ImGui::GetWindowDrawList()->AddRectFilled({at.x + width - length, at.y},
                                            {at.x + width, at.y + line}, with_alpha(colour, 0.28f),
                                            theme.radius / 2);
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
                     const EdgeGaps& gaps, const EdgeFilter& filter, ImVec2 size) {
  static constexpr TableColumn kColumns[] = {
      {"from", "Node that must end first.", 22, ColumnAlign::Left},
      {"to", "Node that must start later.", 22, ColumnAlign::Left},
      {"cause",
       "Reason for the edge. Hazard: conflicting accesses. Barrier, user: added by the program. "
       "Lane, entry/exit: false dependencies added by lowering.",
       10, ColumnAlign::Left},
      {"hazard", "Kind of conflict: read after write, write after read, write after write.", 14,
       ColumnAlign::Left},
      {"buffer", "Buffer of the conflict or of the barrier.", 16, ColumnAlign::Left},
      {"bytes", "Number of conflicting bytes.", 10, ColumnAlign::Right},
      {"cost",
       "Reduction of the critical path without this edge, by the medians of the range. 0 off the "
       "critical path and where another path is as long.",
       11, ColumnAlign::Right},
      {"gap",
       "In the shown replay: from the end of the earlier node to the start of the later node. "
       "Faint if another predecessor ended later.",
       11, ColumnAlign::Right},
      {"status",
       "Critical: on the critical path. Redundant: other edges order the same nodes. Redundant "
       "(lanes): only lane or entry/exit edges of this lowering order the same nodes.",
       11, ColumnAlign::Left},
  };
  const Theme& theme = context.theme;
  const EdgeGaps sort_gaps = sort_.by == EdgeColumn::Gap ? gaps : nullptr;
  const bool is_current = requested_.view_model == view_model && requested_.gaps == sort_gaps &&
                          requested_.filter == filter && requested_.order == sort_ &&
                          requested_.matches == context.matches;
  if (!is_current) {
    requested_ = {view_model, sort_gaps, filter, sort_, context.matches};
    order_.ask(requested_, [key = requested_] {
      static const std::vector<EdgeGap> kNoGaps;
      return Rows{key.view_model, ordered_edges(*key.view_model, key.gaps ? *key.gaps : kNoGaps,
                                                key.filter, key.order, key.matches)};
    });
  }
  const auto rows = order_.value();
  const bool is_ready = rows && rows->view_model->graph == view_model->graph;
  rows_ = is_ready ? rows->edges.size() : 0;
  if (!begin_table(theme,
                   {"edges", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size}))
    return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<EdgeColumn>(sort.column), sort.is_descending};
  if (is_ready) {
    if (last_selection_ != context.view.selection || context.view.reveal_selection) {
      last_selection_ = context.view.selection;
      const auto first = std::find_if(rows->edges.begin(), rows->edges.end(), [&](std::uint32_t e) {
        return model::selects_edge(last_selection_, *view_model->graph, e);
      });
      if (first != rows->edges.end())
        reveal_row(static_cast<std::size_t>(first - rows->edges.begin()));
    }
    const double max_cost = view_model->costliest_edge == kNone
                                ? 0
                                : view_model->costs.edges[view_model->costliest_edge].cost;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->edges.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_row(context, *view_model, gaps.get(), rows->edges[static_cast<std::size_t>(i)],
                 max_cost);
      }
    }
  }
  ImGui::EndTable();
}

void EdgeTable::draw_row(PanelContext& context, const SyncViewModel& view_model,
                         const std::vector<EdgeGap>* gaps, std::uint32_t edge,
                         double max_cost) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Edge& e = graph.record().edges[edge];
  const model::EdgeCost& cost = view_model.costs.edges[edge];
  const model::Selection self = model::SelectedEdge{graph.key(), edge};
  const bool is_highlighted =
      context.view.hovered == self || model::selects_edge(context.view.selection, graph, edge);
  const RowInput input =
      begin_row(theme, static_cast<int>(edge), {context.view.selection == self, is_highlighted});
  if (input.is_clicked) context.view.select(self);
  if (input.is_hovered) context.view.hovered = self;
  draw_cell(theme, 0, node_text(graph, e.from));
  draw_cell(theme, 1, node_text(graph, e.to));
  if (ImGui::TableSetColumnIndex(2)) swatch(theme, cause_colour(theme, e.cause));
  draw_cell(theme, 2, cause_name(e.cause));
  draw_cell(theme, 3, e.hazard == trace::Hazard::None ? "" : hazard_name(e.hazard), theme.ink_soft);
  if (e.buffer != kNone) draw_cell(theme, 4, graph.buffer_name(e.buffer));
  if (e.end > e.begin) {
    draw_number(theme, 5, bytes_text(e.end - e.begin));
    tooltip("bytes " + count_text(e.begin) + " to " + count_text(e.end) + " of " +
            (e.buffer == kNone ? "memory" : graph.buffer_name(e.buffer)));
  }
  if (view_model.has_times) {
    fraction_bar(theme, 6, max_cost > 0 ? cost.cost / max_cost : 0, theme.critical);
    draw_number(theme, 6, cost.cost > 0 ? duration_text(cost.cost, max_cost) : "0",
                cost.cost > 0 ? theme.ink : theme.ink_faint);
  }
  if (gaps && (*gaps)[edge].is_known) {
    const EdgeGap& gap = (*gaps)[edge];
    draw_number(theme, 7, duration_text(static_cast<double>(gap.time)),
                gap.is_latest ? theme.ink : theme.ink_faint);
  }
  const Redundancy redundancy = view_model.edge_redundancy[edge];
  if (cost.is_critical && view_model.has_times) {
    if (ImGui::TableSetColumnIndex(8)) swatch(theme, theme.critical);
    draw_cell(theme, 8, redundancy == Redundancy::Full ? "critical, redundant" : "critical");
  } else if (redundancy == Redundancy::Full) {
    draw_cell(theme, 8, "redundant", theme.warning);
  } else if (redundancy == Redundancy::ByLowering) {
    draw_cell(theme, 8, "redundant (lanes)", theme.ink_soft);
  }
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
      {"cost", "Reduction of the critical path without this barrier, by the medians of the range.",
       11, ColumnAlign::Right},
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
  if (!begin_table(theme,
                   {"barriers", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size}))
    return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<BarrierColumn>(sort.column), sort.is_descending};
  if (rows && rows->view_model->graph == view_model->graph) {
    if (last_selection_ != context.view.selection || context.view.reveal_selection) {
      last_selection_ = context.view.selection;
      std::uint32_t barrier = kNone;
      if (const auto* b = std::get_if<model::SelectedBarrier>(&last_selection_))
        barrier = b->barrier;
      const auto found = std::find(rows->barriers.begin(), rows->barriers.end(), barrier);
      if (found != rows->barriers.end())
        reveal_row(static_cast<std::size_t>(found - rows->barriers.begin()));
    }
    const double max_cost = view_model->costliest_barrier == kNone
                                ? 0
                                : view_model->costs.barriers[view_model->costliest_barrier].cost;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->barriers.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(context, *view_model, rows->barriers[static_cast<std::size_t>(i)], max_cost);
    }
  }
  ImGui::EndTable();
}

void BarrierTable::draw_row(PanelContext& context, const SyncViewModel& view_model,
                            std::uint32_t barrier, double max_cost) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Barrier& b = graph.record().barriers[barrier];
  const model::BarrierCost& cost = view_model.costs.barriers[barrier];
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
  const Redundancy redundancy = view_model.barrier_redundancy[barrier];
  const bool is_redundant = redundancy == Redundancy::Full;
  const ImU32 ink = is_redundant ? theme.ink_soft : theme.ink;
  draw_cell(theme, 0, barrier_text(graph, barrier), ink);
  draw_cell(theme, 1, graph.label_path(b.label), theme.ink_soft);
  draw_cell(theme, 2,
            b.buffer == kNone ? "all memory"
                              : graph.buffer_name(b.buffer) + "  " + bytes_text(b.begin) + " to " +
                                    bytes_text(b.end),
            ink);
  draw_cell(theme, 3, access_text(b), ink);
  draw_number(theme, 4, count_text(cost.edges), ink);
  draw_number(theme, 5, count_text(cost.critical_edges),
              cost.critical_edges == 0 ? theme.ink_faint : ink);
  if (view_model.has_times) {
    fraction_bar(theme, 6, max_cost > 0 ? cost.cost / max_cost : 0, theme.critical);
    draw_number(theme, 6, cost.cost > 0 ? duration_text(cost.cost, max_cost) : "0",
                cost.cost > 0 ? ink : theme.ink_faint);
  }
  if (is_redundant) {
    if (ImGui::TableSetColumnIndex(7)) swatch(theme, theme.warning);
    draw_cell(theme, 7, "redundant", theme.warning);
    tooltip(cost.edges == 0 ? "The barrier creates no edge: no accesses conflict across it, or "
                              "they are already ordered."
                            : "Other edges order the same nodes.");
  } else if (redundancy == Redundancy::ByLowering) {
    draw_cell(theme, 7, "redundant (lanes)", theme.ink_soft);
    tooltip(
        "Required, but lane or entry/exit edges order the same nodes: no cost in this lowering.");
  }
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

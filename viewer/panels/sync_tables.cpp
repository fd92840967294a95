#include "panels/sync_tables.hpp"

#include <algorithm>
#include <cmath>

#include "panels/format.hpp"
#include "panels/table_columns.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

// Enough of a name to find it by; the rest is in a tooltip.
constexpr std::size_t kLetters = 64;

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
  const float line = ImGui::GetTextLineHeight(), size = std::round(line * 0.62f), top = std::round(at.y + (line - size) / 2);
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, colour, 2 * theme.scale);
  ImGui::SetCursorScreenPos({at.x + size + theme.half_space * 1.5f, at.y});
}

// A bar behind a number, as long as its part of the greatest.
void part_bar(const Theme& theme, int column, double part, ImU32 colour) {
  if (!(part > 0) || !ImGui::TableSetColumnIndex(column)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float length = std::max(1.0f, width * static_cast<float>(std::min(part, 1.0)));
  ImGui::GetWindowDrawList()->AddRectFilled({at.x + width - length, at.y}, {at.x + width, at.y + line}, with_alpha(colour, 0.28f), theme.radius / 2);
}

}  // namespace

std::string node_text(const model::Graph& graph, std::uint32_t node) { return count_text(node) + "  " + shortened(graph.node_name(node), kLetters); }

std::string barrier_text(const model::Graph& graph, std::uint32_t barrier) {
  const trace::Barrier& b = graph.record().barriers[barrier];
  const std::string place = place_text(graph, b.file, b.line);
  return place.empty() ? "barrier " + count_text(barrier) : place;
}

std::string access_text(const trace::Barrier& barrier) {
  return std::string(accesses_text(barrier.before)) + " before " + accesses_text(barrier.after) +
         (barrier.dependency == trace::Dependency::Programmatic ? ", programmatic" : "");
}

void EdgeTable::draw(Frame& frame, const SyncFactsPointer& facts, const EdgeGaps& gaps, const EdgeChoice& choice, ImVec2 size) {
  static constexpr TableColumn kColumns[] = {
      {"from", "The node that has to end first.", 22, ColumnAlign::Left},
      {"to", "The node that may start only then.", 22, ColumnAlign::Left},
      {"cause",
       "Why the edge exists. Hazard: both touch the same bytes. Barrier, user: the program asked for it. Lane: nothing but that both were put into "
       "one "
       "lane, a false dependency. Frame: the begin and the end of the graph.",
       10, ColumnAlign::Left},
      {"hazard", "What would go wrong without it: read after write, write after read, write after write.", 14, ColumnAlign::Left},
      {"buffer", "The buffer that both touch, or that the barrier names.", 16, ColumnAlign::Left},
      {"bytes", "The bytes of the buffer that conflict.", 10, ColumnAlign::Right},
      {"cost",
       "How much shorter the longest way through the graph would be without this edge alone, by the medians of the range. 0 beside the longest way, "
       "and "
       "where another way is as long.",
       11, ColumnAlign::Right},
      {"gap",
       "In the replay that is shown: from the end of the earlier node to the start of the later one. Bright where this edge was what the later node "
       "waited for last; faint where another predecessor ended later.",
       11, ColumnAlign::Right},
      {"remark",
       "Critical: on a longest way through the graph. Implied: what else the nodes need orders the same two already, so that this one orders "
       "nothing. "
       "By lanes: lanes or the frame order them too, now; with other lanes they would not.",
       11, ColumnAlign::Left},
  };
  const Theme& theme = frame.theme;
  const EdgeGaps wanted = sort_.by == EdgeColumn::Gap ? gaps : nullptr;
  const bool is_same =
      asked_.facts == facts && asked_.gaps == wanted && asked_.choice == choice && asked_.order == sort_ && asked_.matches == frame.matches;
  if (!is_same) {
    asked_ = {facts, wanted, choice, sort_, frame.matches};
    order_.ask(asked_, [key = asked_] {
      static const std::vector<EdgeGap> kUnknown;
      return Rows{key.facts, ordered_edges(*key.facts, key.gaps ? *key.gaps : kUnknown, key.choice, key.order, key.matches)};
    });
  }
  const auto rows = order_.value();
  const bool is_ready = rows && rows->facts->graph == facts->graph;
  rows_ = is_ready ? rows->edges.size() : 0;
  if (!begin_table(theme, {"edges", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size})) return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<EdgeColumn>(sort.column), sort.is_descending};
  if (is_ready) {
    if (seen_ != frame.view.selection || frame.view.reveal_selection) {
      seen_ = frame.view.selection;
      const auto first =
          std::find_if(rows->edges.begin(), rows->edges.end(), [&](std::uint32_t e) { return model::selects_edge(seen_, *facts->graph, e); });
      if (first != rows->edges.end()) reveal_row(static_cast<std::size_t>(first - rows->edges.begin()));
    }
    const double dearest = facts->dearest_edge == kNone ? 0 : facts->costs.edges[facts->dearest_edge].cost;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->edges.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_row(frame, *facts, gaps.get(), rows->edges[static_cast<std::size_t>(i)], dearest);
      }
    }
  }
  ImGui::EndTable();
}

void EdgeTable::draw_row(Frame& frame, const SyncFacts& facts, const std::vector<EdgeGap>* gaps, std::uint32_t edge, double dearest) const {
  const Theme& theme = frame.theme;
  const model::Graph& graph = *facts.graph;
  const trace::Edge& e = graph.record().edges[edge];
  const model::EdgeCost& cost = facts.costs.edges[edge];
  const model::Selection self = model::SelectedEdge{graph.key(), edge};
  const bool is_lit = frame.view.hovered == self || model::selects_edge(frame.view.selection, graph, edge);
  const RowInput input = begin_row(theme, static_cast<int>(edge), {frame.view.selection == self, is_lit});
  if (input.is_clicked) frame.view.select(self);
  if (input.is_hovered) frame.view.hovered = self;
  draw_cell(theme, 0, node_text(graph, e.from));
  draw_cell(theme, 1, node_text(graph, e.to));
  if (ImGui::TableSetColumnIndex(2)) swatch(theme, cause_colour(theme, e.cause));
  draw_cell(theme, 2, cause_name(e.cause));
  draw_cell(theme, 3, e.hazard == trace::Hazard::None ? "" : hazard_name(e.hazard), theme.ink_soft);
  if (e.buffer != kNone) draw_cell(theme, 4, graph.buffer_name(e.buffer));
  if (e.end > e.begin) {
    draw_number(theme, 5, bytes_text(e.end - e.begin));
    tooltip("bytes " + count_text(e.begin) + " to " + count_text(e.end) + " of " + (e.buffer == kNone ? "memory" : graph.buffer_name(e.buffer)));
  }
  if (facts.has_times) {
    part_bar(theme, 6, dearest > 0 ? cost.cost / dearest : 0, theme.critical);
    draw_number(theme, 6, cost.cost > 0 ? duration_text(cost.cost, dearest) : "0", cost.cost > 0 ? theme.ink : theme.ink_faint);
  }
  if (gaps && (*gaps)[edge].is_known) {
    const EdgeGap& gap = (*gaps)[edge];
    draw_number(theme, 7, duration_text(static_cast<double>(gap.time)), gap.is_deciding ? theme.ink : theme.ink_faint);
  }
  const Need need = facts.edge_needs[edge];
  if (cost.is_critical && facts.has_times) {
    if (ImGui::TableSetColumnIndex(8)) swatch(theme, theme.critical);
    draw_cell(theme, 8, need == Need::None ? "critical, implied" : "critical");
  } else if (need == Need::None) {
    draw_cell(theme, 8, "implied", theme.warning);
  } else if (need == Need::ByLanes) {
    draw_cell(theme, 8, "by lanes", theme.ink_soft);
  }
}

void BarrierTable::draw(Frame& frame, const SyncFactsPointer& facts, ImVec2 size) {
  static constexpr TableColumn kColumns[] = {
      {"barrier", "Where the program recorded it.", 20, ColumnAlign::Left},
      {"label", "Under which label it was recorded.", 20, ColumnAlign::Left},
      {"on", "The bytes that it orders; all memory where it names no buffer.", 24, ColumnAlign::Left},
      {"orders", "Which accesses before it, and which ones after it.", 26, ColumnAlign::Left},
      {"edges", "Edges that exist because of it.", 7, ColumnAlign::Right},
      {"critical", "Those of them on a longest way through the graph.", 8, ColumnAlign::Right},
      {"cost", "How much shorter the longest way through the graph would be without this barrier, by the medians of the range.", 11,
       ColumnAlign::Right},
      {"remark",
       "Orders nothing: it makes no edge, or what else the nodes need orders all that it does: it can be removed. By lanes too: it is needed, but "
       "the lanes "
       "of this graph order the same nodes.",
       16, ColumnAlign::Left},
  };
  const Theme& theme = frame.theme;
  const bool is_same = asked_.facts == facts && asked_.order == sort_ && asked_.matches == frame.matches;
  if (!is_same) {
    asked_ = {facts, sort_, frame.matches};
    order_.ask(asked_, [key = asked_] { return Rows{key.facts, ordered_barriers(*key.facts, key.order, key.matches)}; });
  }
  const auto rows = order_.value();
  if (!begin_table(theme, {"barriers", kColumns, {static_cast<int>(sort_.by), sort_.is_descending}, size})) return;
  const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
  sort_ = {static_cast<BarrierColumn>(sort.column), sort.is_descending};
  if (rows && rows->facts->graph == facts->graph) {
    if (seen_ != frame.view.selection || frame.view.reveal_selection) {
      seen_ = frame.view.selection;
      std::uint32_t barrier = kNone;
      if (const auto* b = std::get_if<model::SelectedBarrier>(&seen_)) barrier = b->barrier;
      const auto found = std::find(rows->barriers.begin(), rows->barriers.end(), barrier);
      if (found != rows->barriers.end()) reveal_row(static_cast<std::size_t>(found - rows->barriers.begin()));
    }
    const double dearest = facts->dearest_barrier == kNone ? 0 : facts->costs.barriers[facts->dearest_barrier].cost;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->barriers.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, *facts, rows->barriers[static_cast<std::size_t>(i)], dearest);
    }
  }
  ImGui::EndTable();
}

void BarrierTable::draw_row(Frame& frame, const SyncFacts& facts, std::uint32_t barrier, double dearest) const {
  const Theme& theme = frame.theme;
  const model::Graph& graph = *facts.graph;
  const trace::Barrier& b = graph.record().barriers[barrier];
  const model::BarrierCost& cost = facts.costs.barriers[barrier];
  const model::Selection self = model::SelectedBarrier{graph.key(), barrier};
  bool is_lit = frame.view.hovered == self;
  if (const auto* e = std::get_if<model::SelectedEdge>(&frame.view.selection);
      e && e->graph == graph.key() && e->edge < graph.record().edges.size()) {
    is_lit = is_lit || graph.record().edges[e->edge].barrier == barrier;
  }
  const RowInput input = begin_row(theme, static_cast<int>(barrier), {frame.view.selection == self, is_lit});
  if (input.is_clicked) frame.view.select(self);
  if (input.is_hovered) frame.view.hovered = self;
  const Need need = facts.barrier_needs[barrier];
  const bool is_idle = need == Need::None;
  const ImU32 ink = is_idle ? theme.ink_soft : theme.ink;
  draw_cell(theme, 0, barrier_text(graph, barrier), ink);
  draw_cell(theme, 1, graph.label_path(b.label), theme.ink_soft);
  draw_cell(theme, 2, b.buffer == kNone ? "all memory" : graph.buffer_name(b.buffer) + "  " + bytes_text(b.begin) + " to " + bytes_text(b.end), ink);
  draw_cell(theme, 3, access_text(b), ink);
  draw_number(theme, 4, count_text(cost.edges), ink);
  draw_number(theme, 5, count_text(cost.critical_edges), cost.critical_edges == 0 ? theme.ink_faint : ink);
  if (facts.has_times) {
    part_bar(theme, 6, dearest > 0 ? cost.cost / dearest : 0, theme.critical);
    draw_number(theme, 6, cost.cost > 0 ? duration_text(cost.cost, dearest) : "0", cost.cost > 0 ? ink : theme.ink_faint);
  }
  if (is_idle) {
    if (ImGui::TableSetColumnIndex(7)) swatch(theme, theme.warning);
    draw_cell(theme, 7, "orders nothing", theme.warning);
    tooltip(cost.edges == 0
                ? "No edge exists because of it: nothing before it touches what something after it touches, or other commands are ordered already."
                : "What else the nodes need orders all that its edges do.");
  } else if (need == Need::ByLanes) {
    draw_cell(theme, 7, "by lanes too", theme.ink_soft);
    tooltip("It is needed, but lanes or the frame order the same nodes now: it costs nothing.");
  }
}

void draw_findings(Frame& frame, const std::vector<Finding>& findings, ImVec2 size) {
  const Theme& theme = frame.theme;
  ImGui::BeginChild("findings", size);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const trace::Message& m = finding.message;
    const ImU32 colour = m.severity == trace::Severity::Error ? theme.error : m.severity == trace::Severity::Warning ? theme.warning : theme.ink_soft;
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
      ImGui::TextUnformatted("of a graph that was not compiled because of it");
      ImGui::PopStyleColor();
    }
    const auto jump = [&](const char* id, const std::string& text, const model::Selection& what) {
      ImGui::SameLine();
      ImGui::PushID(id);
      if (ImGui::SmallButton(text.c_str())) frame.view.select(what);
      if (ImGui::IsItemHovered()) frame.view.hovered = what;
      ImGui::PopID();
    };
    const model::Graph& graph = *frame.graph();
    if (finding.barrier != kNone) jump("barrier", barrier_text(graph, finding.barrier), model::SelectedBarrier{graph.key(), finding.barrier});
    if (finding.node != kNone) jump("node", "node " + node_text(graph, finding.node), model::SelectedNode{graph.key(), finding.node});
    if (finding.other_node != kNone)
      jump("other", "node " + node_text(graph, finding.other_node), model::SelectedNode{graph.key(), finding.other_node});
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

#include "panels/graphs/graphs_panel.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/graphs/graphs_rows.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

constexpr double kRefreshSeconds = 1;  // minimum time between tables of a growing document

constexpr TableColumn kColumns[] = {
    {"Graph",
     "Graphs with the same topology form a family; click a family to expand it. Double-click a "
     "graph to show it in the Graph view.",
     30, ColumnAlign::Left},
    {"Process", "The process that replays the graph, and its rank in a distributed job.", 16,
     ColumnAlign::Left},
    {"Replays", "Number of replays.", 14, ColumnAlign::Right},
    {"Median", "Median of the device time of a replay. Of a family: the range of its graphs.", 20,
     ColumnAlign::Right, "ns"},
    {"p99", "99th percentile of the device time of a replay.", 10, ColumnAlign::Right, "ns"},
    {"Total", "Device time of all replays.", 10, ColumnAlign::Right, "ns"},
    {"Share", "Fraction of the device time of all graphs of the process.", 8, ColumnAlign::Right},
    {"Latency", "Median launch-to-start latency.", 10, ColumnAlign::Right, "ns"},
    {"Gap", "Median of the gap since the previous replay of the same graph.", 10,
     ColumnAlign::Right, "ns"},
    {"Nodes", "Number of nodes. Of a family: of all its graphs.", 8, ColumnAlign::Right},
    {"Slab", "Device memory of the transients. Of a family: the sum of its graphs.", 10,
     ColumnAlign::Right, "bytes"},
    {"Pool", "The pool of the graph.", 10, ColumnAlign::Left},
    {"Memory",
     "Device memory that the graph took, from before its capture to after its first launch: what "
     "the capture, the instantiation, uploads and the first launch added to the memory in use. "
     "Allocations of other threads and programs during these steps are included.",
     10, ColumnAlign::Right, "bytes"},
    {"Launch mem.", "Part of Memory that the uploads and the first launch took.", 11,
     ColumnAlign::Right, "bytes"},
    {"Record", "Host time to record the command buffer, or to capture the stream.", 10,
     ColumnAlign::Right, "ns"},
    {"Compile", "Host time to compile.", 10, ColumnAlign::Right, "ns"},
    {"Instantiate", "Host time to instantiate the executable.", 11, ColumnAlign::Right, "ns"},
    {"Upload", "Host time of uploads. Of programs run with `reprise run`: with the first launch.",
     10, ColumnAlign::Right, "ns"},
    {"Versions", "Number of versions: updates create new ones.", 9, ColumnAlign::Right},
};
static_assert(std::size(kColumns) == kGraphColumns);

}  // namespace

struct GraphsPanel::State {
  explicit State(Background& background) : table(background) {}

  // The newest table; null before the first one.
  std::shared_ptr<const model::GraphTable> update(const PanelContext& context);
  void draw_row(PanelContext& context, const model::GraphTable& shown,
                const TableContents& contents, std::size_t index);
  [[nodiscard]] TableCell cell(const PanelContext& context, const model::GraphTable& shown,
                               const GraphListRow& row, GraphColumn column) const;
  void draw_menu(PanelContext& context, const model::GraphTable& shown, const GraphListRow& row);
  void toggle(std::uint64_t topology) {
    if (expanded.erase(topology) == 0) expanded.insert(topology);
    rows_of.reset();
  }

  AsyncValue<std::uint64_t, model::GraphTable> table;  // by document revision
  double requested_at = -1e9;
  GraphOrder order;
  std::set<std::uint64_t> expanded;  // topologies

  std::shared_ptr<const model::GraphTable> rows_of;  // the table of `rows`
  std::vector<GraphListRow> rows;
  model::GraphKey revealed;
};

GraphsPanel::GraphsPanel(Background& background) : state_(std::make_unique<State>(background)) {}
GraphsPanel::~GraphsPanel() = default;

std::shared_ptr<const model::GraphTable> GraphsPanel::State::update(const PanelContext& context) {
  if (const double now = ImGui::GetTime();
      !context.is_live || now - requested_at >= kRefreshSeconds) {
    requested_at = now;
    table.ask(context.document->revision,
              [document = context.document] { return model::graph_table(*document); });
  }
  return table.value();
}

void GraphsPanel::State::draw_menu(PanelContext& context, const model::GraphTable& shown,
                                   const GraphListRow& row) {
  if (!ImGui::BeginPopupContextItem("menu")) return;
  if (row.row != kNone) {
    draw_graph_menu(context, shown.rows[row.row].key);
  } else {
    const auto& members = shown.families[row.family].rows;
    if (ImGui::MenuItem("Compare the two longest graphs")) {
      context.view.compare_a = shown.rows[members[0]].key;
      context.view.compare_b = shown.rows[members[1]].key;
      context.view.show(View::Compare);
    }
  }
  ImGui::Separator();
  draw_csv_items(context.view);
  ImGui::EndPopup();
}

void GraphsPanel::State::draw_row(PanelContext& context, const model::GraphTable& shown,
                                  const TableContents& contents, std::size_t index) {
  const GraphListRow& row = rows[index];
  const Theme& theme = context.theme;
  const bool is_family = row.row == kNone;
  const model::GraphFamily& family = shown.families[row.family];
  const bool is_open = expanded.count(family.topology) != 0;
  const model::GraphRow* graph = is_family ? nullptr : &shown.rows[row.row];
  const bool is_shown = graph != nullptr && graph->key.graph == context.view.graph.graph;
  // A family contains the shown graph if it is collapsed.
  const bool is_lit = is_family && !is_open &&
                      std::any_of(family.rows.begin(), family.rows.end(), [&](std::uint32_t r) {
                        return shown.rows[r].key.graph == context.view.graph.graph;
                      });
  // Rows and families have ids of their own.
  const int id = static_cast<int>(is_family ? row.family : row.row) * 2 + (is_family ? 1 : 0);
  ImGui::PushID(id);
  const RowInput input = begin_row(theme, id, {is_shown, is_lit});
  if (input.is_clicked && is_family) toggle(family.topology);
  if (input.is_clicked && graph != nullptr) context.view.show_graph(graph->key);
  if (input.is_hovered && graph != nullptr && ImGui::IsMouseDoubleClicked(0))
    context.view.show(View::Graph);
  draw_menu(context, shown, row);
  if (is_family && input.is_hovered) {
    const std::string differences = model::differences_text(family);
    tooltip("Same topology, " + count_text(shown.rows[family.rows.front()].totals.nodes) +
            " nodes. " +
            (differences.empty() ? "Kernels, grids and bytes are equal."
                                 : "Different " + differences + "."));
  }
  draw_cells(theme, contents, index);
  ImGui::PopID();
}

TableCell GraphsPanel::State::cell(const PanelContext& context, const model::GraphTable& shown,
                                   const GraphListRow& row, GraphColumn column) const {
  const Theme& theme = context.theme;
  const bool is_family = row.row == kNone;
  const model::GraphRow* graph = is_family ? nullptr : &shown.rows[row.row];
  TableCell cell{.text = graph_text(shown, row, column),
                 .number = graph_number(shown, row, column)};
  const bool is_unused = graph != nullptr && graph->totals.replays == 0;
  if (column == GraphColumn::Name) {
    const bool is_open = expanded.count(shown.families[row.family].topology) != 0;
    cell.prefix = is_family ? (is_open ? "v  " : ">  ") : row.is_member ? "      " : "    ";
    if (graph != nullptr && graph->key.graph == context.view.graph.graph)
      cell.colour = theme.accent;
  } else if (kColumns[static_cast<std::size_t>(column)].align == ColumnAlign::Left) {
    cell.colour = theme.ink_soft;
  }
  if (cell.colour == 0 && is_unused) cell.colour = theme.ink_faint;
  if (cell.text.empty() && kColumns[static_cast<std::size_t>(column)].align == ColumnAlign::Right)
    cell.prefix = "-";
  return cell;
}

namespace {

void draw_totals(const Theme& theme, const model::GraphTable& table) {
  const model::GraphTotals& totals = table.totals;
  std::string text = count_text(totals.graphs) + (totals.graphs == 1 ? " graph" : " graphs");
  if (table.families.size() != table.rows.size())
    text += " in " + count_text(table.families.size()) +
            (table.families.size() == 1 ? " family" : " families");
  text += "      " + count_text(totals.replays) + (totals.replays == 1 ? " replay" : " replays");
  if (totals.device_time > 0) text += "      device time " + duration_text(totals.device_time);
  if (totals.never_replayed != 0)
    text += "      " + count_text(totals.never_replayed) + " never replayed";
  if (totals.slab_bytes != 0) text += "      slabs " + bytes_text(totals.slab_bytes);
  if (const auto memory = totals.memory_bytes())
    text += "      device memory " + bytes_change_text(*memory);
  if (totals.preparation() != 0)
    text += "      preparation " + duration_text(static_cast<double>(totals.preparation()));
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  tooltip(
      "Preparation: recording or capturing, compiling, instantiating and uploading on the host. "
      "Device memory: what capturing, instantiating and first launching graphs took. Graphs that "
      "share a slab count it once each.");
}

}  // namespace

void GraphsPanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  State& s = *state_;
  if (context.document->graphs.empty()) {
    draw_empty(theme, "No graph yet", "Waiting for a graph in the trace.");
    return;
  }
  const auto table = s.update(context);
  if (table == nullptr) return draw_busy(theme, "Summarising graphs");
  const float footer = ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y + 1;
  if (begin_table(theme, context.view,
                  {"graphs",
                   kColumns,
                   {static_cast<int>(s.order.by), s.order.is_descending},
                   {0, -footer},
                   absent_columns(*table)})) {
    const TableSort sort = sort_of({static_cast<int>(s.order.by), s.order.is_descending});
    const GraphOrder order{static_cast<GraphColumn>(sort.column), sort.is_descending};
    if (s.rows_of != table || !(order == s.order)) {
      s.order = order;
      s.rows_of = table;
      s.rows = graph_rows(*table, order, s.expanded);
    }
    if (s.revealed != context.view.graph) {
      s.revealed = context.view.graph;
      const auto at = std::find_if(s.rows.begin(), s.rows.end(), [&](const GraphListRow& row) {
        return row.row != kNone && table->rows[row.row].key.graph == context.view.graph.graph;
      });
      if (at != s.rows.end()) reveal_row(static_cast<std::size_t>(at - s.rows.begin()));
    }
    const TableContents contents{.name = "graphs",
                                 .columns = kColumns,
                                 .rows = s.rows.size(),
                                 .cell = [&](std::size_t row, std::size_t column) {
                                   return s.cell(context, *table, s.rows[row],
                                                 static_cast<GraphColumn>(column));
                                 }};
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(s.rows.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        s.draw_row(context, *table, contents, static_cast<std::size_t>(i));
    }
    end_table(context.view, contents);
  }
  draw_totals(theme, *table);
}

}  // namespace reprise::viewer

#include "panels/nodes/nodes_panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/nodes/nodes_groups.hpp"
#include "panels/nodes/nodes_menu.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/nodes/nodes_row.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Sums over the rows of the table, and its columns without values.
struct NodeTotals {
  double median = 0, critical = 0;  // ns
  double share = 0, max_share = 0;
  std::uint64_t samples = 0, lost = 0;
  std::uint64_t absent = 0;  // as bits
};

}  // namespace

struct NodesPanel::State {
  explicit State(Background& background) : groups(background), sorter(background) {}

  // Draws the choice of views. Returns the chosen view of groups; empty: the table of nodes.
  std::optional<GroupView> draw_choices(const Theme& theme);

  NodeGroupsView groups;
  int mode = 0;  // 0: nodes, 1 + GroupView: groups
  GroupScope scope = GroupScope::Graph;
  NodeSorter sorter;
  NodeSort sort;
  NodeTotals totals;
  std::optional<std::pair<GraphViewModelKey, std::uint64_t>>
      totals_of;                    // and the sorter's revision
  model::Selection last_selection;  // of the last frame; a new selection is revealed
};

NodesPanel::NodesPanel(Background& background) : state_(std::make_unique<State>(background)) {}
NodesPanel::~NodesPanel() = default;

namespace {

// Columns without a value in any node, as bits. Columns of times stay: they fill during a session.
std::uint64_t absent_columns(const model::Graph& graph) {
  std::uint64_t present = 0;
  constexpr NodeColumn kOptional[] = {NodeColumn::Label, NodeColumn::Kernel, NodeColumn::Grid,
                                      NodeColumn::Block, NodeColumn::Bytes,  NodeColumn::Source};
  const auto bit = [](NodeColumn column) {
    return std::uint64_t{1} << static_cast<unsigned>(column);
  };
  for (const trace::Node& node : graph.record().nodes) {
    if (node.label != 0) present |= bit(NodeColumn::Label);
    if (node.kernel != trace::kNone) present |= bit(NodeColumn::Kernel);
    if (node.grid[0] != 0) present |= bit(NodeColumn::Grid) | bit(NodeColumn::Block);
    if (node.bytes != 0) present |= bit(NodeColumn::Bytes);
    if (node.line != 0) present |= bit(NodeColumn::Source);
  }
  std::uint64_t absent = 0;
  for (const NodeColumn column : kOptional) absent |= bit(column) & ~present;
  if ((absent & bit(NodeColumn::Bytes)) != 0) absent |= bit(NodeColumn::Throughput);
  return absent;
}

// Sums over the rows of the table.
NodeTotals totals_of(const PanelContext& context, std::span<const std::uint32_t> rows) {
  NodeTotals totals;
  totals.absent = absent_columns(*context.graph());
  if (context.view_model == nullptr) return totals;
  std::vector<std::uint8_t> is_row(context.graph()->node_count(), 0);
  for (const std::uint32_t n : rows) is_row[n] = 1;
  for (const std::uint32_t n : rows) {
    const GraphViewModel::Node& node = context.view_model->nodes[n];
    // The time of a loop or conditional includes the nodes that it runs.
    std::uint32_t parent = context.graph()->parent(n);
    while (parent != trace::kNone && is_row[parent] == 0) parent = context.graph()->parent(parent);
    if (parent == trace::kNone) totals.median += node.median;
    totals.share += node.share;
    totals.max_share = std::max(totals.max_share, node.share);
    totals.samples += node.count;
    totals.lost += node.lost;
  }
  for (const model::PathStep& step : context.view_model->path.steps)
    totals.critical += step.duration;
  return totals;
}

void draw_footer(const PanelContext& context, std::size_t rows, const NodeTotals& totals) {
  const std::size_t all = context.graph()->node_count();
  std::string text = rows == all
                         ? counted_text(all, "node")
                         : count_text(rows) + " of " + count_text(all) + " nodes match the filter";
  if (context.view_model != nullptr && context.view_model->samples != 0) {
    text += "      sum of medians " + duration_text(totals.median) + "      " +
            percent_text(totals.share) + " of total node time      " + count_text(totals.samples) +
            " samples";
    if (context.view_model->read_replays < context.view_model->sampled_replays) {
      text += " of " + count_text(context.view_model->read_replays) + " of " +
              count_text(context.view_model->sampled_replays) + " sampled replays";
    }
    if (totals.lost != 0) text += "      " + count_text(totals.lost) + " lost";
    text += "      critical path " + duration_text(totals.critical);
  }
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  tooltip("Right-click a row to copy or filter, and the header to select columns.");
}

}  // namespace

std::optional<GroupView> NodesPanel::State::draw_choices(const Theme& theme) {
  // Low panels show only the table.
  if (ImGui::GetContentRegionAvail().y < 4.5f * theme.row) return std::nullopt;
  const std::array<ChoiceItem, 6> modes{
      {{"Nodes", "One row per node."},
       {"Kernels", "Sums by kernel."},
       {"Kinds", "Sums by kind: GEMM, attention, reduction, copy, ..."},
       {"Lines", "Sums by the source line that created the nodes."},
       {"Labels", "Sums by label, as a tree."},
       {"Icicle", "Sums by label, as a chart: the width is the share."}}};
  mode = draw_choice(theme, "mode", modes, mode);
  if (mode == 0) return std::nullopt;
  ImGui::SameLine(0, theme.space * 2);
  const std::array<ChoiceItem, 3> scopes{
      {{"Graph", "The shown graph, over the selected replays."},
       {"Family", "All graphs with the same topology, over all replays."},
       {"Process", "All graphs of the process, over all replays."}}};
  scope = static_cast<GroupScope>(draw_choice(theme, "scope", scopes, static_cast<int>(scope)));
  return static_cast<GroupView>(mode - 1);
}

void NodesPanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.graph() == nullptr) {
    draw_empty(theme, "No graph yet", "Waiting for a graph in the trace.");
    return;
  }
  if (const auto grouped = state_->draw_choices(theme))
    return state_->groups.draw(context, *grouped, state_->scope);
  const std::vector<std::uint32_t>& rows = state_->sorter.rows(context, state_->sort);
  if (rows.empty() && context.graph()->node_count() != 0) {
    const bool is_filtered = std::none_of(context.matches.begin(), context.matches.end(),
                                          [](std::uint8_t m) { return m != 0; }) &&
                             !context.matches.empty();
    if (is_filtered) {
      draw_empty(theme, "No node matches the filter",
                 "The search covers names, labels, kernels and buffers. Esc clears the search.");
    } else {
      draw_busy(theme, "Sorting nodes");
    }
    return;
  }
  if (const std::pair of{graph_view_model_key(context), state_->sorter.revision()};
      state_->totals_of != of) {
    state_->totals_of = of;
    state_->totals = totals_of(context, rows);
  }
  const float footer = ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y + 1;
  const bool is_descending = state_->sort.direction == SortDirection::Descending;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding,
                      {theme.half_space * 1.5f, theme.half_space * 0.75f});
  if (begin_table(theme, context.view,
                  {.id = "nodes",
                   .columns = node_columns(),
                   .sort = {static_cast<int>(state_->sort.column), is_descending},
                   .size = {0, -footer},
                   .absent = state_->totals.absent,
                   .frozen = 1,
                   .ascending = std::uint64_t{1} << static_cast<unsigned>(NodeColumn::Id)})) {
    const TableSort sort = sort_of({static_cast<int>(state_->sort.column), is_descending});
    state_->sort = {static_cast<NodeColumn>(sort.column),
                    sort.is_descending ? SortDirection::Descending : SortDirection::Ascending};
    const float height = row_height();
    if (context.view.selection != state_->last_selection || context.view.reveal_selection) {
      state_->last_selection = context.view.selection;
      if (const auto row = row_of_selection(context, rows)) reveal_row(*row);
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()), height);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto row = static_cast<std::size_t>(i);
        draw_node_row(context,
                      {rows[row], row, state_->sorter.scales(), height, state_->totals.max_share});
      }
    }
    handle_arrow_keys(context, rows);
    end_table(context.view, {.name = "nodes",
                             .columns = node_columns(),
                             .rows = rows.size(),
                             .cell =
                                 [&](std::size_t row, std::size_t column) {
                                   return node_cell(*context.graph(), context.view_model,
                                                    state_->sorter.scales(),
                                                    static_cast<NodeColumn>(column), rows[row]);
                                 },
                             .selected = row_of_selection(context, rows)});
  }
  ImGui::PopStyleVar();
  draw_footer(context, rows.size(), state_->totals);
}

}  // namespace reprise::viewer

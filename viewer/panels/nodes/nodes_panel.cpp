#include "panels/nodes/nodes_panel.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <imgui.h>

#include "panels/nodes/nodes_menu.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/nodes/nodes_row.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

struct NodesPanel::State {
  explicit State(Background& background) : sorter(background) {}

  NodeSorter sorter;
  NodeSort sort;
  model::Selection last_selection;  // of the last frame; a new selection is revealed
};

NodesPanel::NodesPanel(Background& background) : state_(std::make_unique<State>(background)) {}
NodesPanel::~NodesPanel() = default;

namespace {

using Show = NodeColumnInfo::Show;

void set_up_columns() {
  const float character = ImGui::CalcTextSize("0").x;
  ImGui::TableSetupScrollFreeze(1, 1);
  for (const NodeColumnInfo& info : node_columns()) {
    ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_WidthFixed;
    if (info.show == Show::Always)
      flags |= ImGuiTableColumnFlags_NoHide | ImGuiTableColumnFlags_NoReorder;
    if (info.show == Show::OnDemand) flags |= ImGuiTableColumnFlags_DefaultHide;
    if (info.column == NodeColumn::Share) flags |= ImGuiTableColumnFlags_DefaultSort;
    // Numbers sort in descending order first, texts in ascending order.
    flags |= info.align == CellAlign::Right || info.column == NodeColumn::Spread
                 ? ImGuiTableColumnFlags_PreferSortDescending
                 : 0;
    if (info.column == NodeColumn::Id) flags &= ~ImGuiTableColumnFlags_PreferSortDescending;
    ImGui::TableSetupColumn(info.name, flags, info.characters * character,
                            static_cast<ImGuiID>(info.column));
  }
}

void draw_headers(const Theme& theme) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, theme.row);
  for (const NodeColumnInfo& info : node_columns()) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(info.column))) continue;
    ImGui::PushID(static_cast<int>(info.column));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, text = ImGui::CalcTextSize(info.name).x;
    ImGui::TableHeader("##header");
    if (ImGui::IsItemHovered()) tooltip(info.explanation);
    const bool sorted = (ImGui::TableGetColumnFlags() & ImGuiTableColumnFlags_IsSorted) != 0;
    // The sort arrow is at the right end; right-aligned titles end before it.
    const float arrow = sorted ? ImGui::GetFontSize() : 0;
    const float x = info.align == CellAlign::Right ? std::max(0.0f, width - text - arrow) : 0;
    ImGui::GetWindowDrawList()->AddText({at.x + x, at.y}, sorted ? theme.ink : theme.ink_soft,
                                        info.name);
    ImGui::PopID();
  }
}

// The sort order of the current table; `fallback` if it has none.
NodeSort current_sort(NodeSort fallback) {
  const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || specs->SpecsCount == 0) return fallback;
  const ImGuiTableColumnSortSpecs& first = specs->Specs[0];
  return {static_cast<NodeColumn>(first.ColumnUserID),
          first.SortDirection == ImGuiSortDirection_Descending ? SortDirection::Descending
                                                               : SortDirection::Ascending};
}

// Centres the row unless it is visible.
void reveal(std::size_t row, float height) {
  const float header = height, top = static_cast<float>(row) * height,
              view = ImGui::GetWindowHeight() - header;
  const float scroll = ImGui::GetScrollY();
  if (top >= scroll && top + height <= scroll + view) return;
  ImGui::SetScrollY(std::max(0.0f, top - (view - height) / 2));
}

void draw_footer(const PanelContext& context, std::span<const std::uint32_t> rows) {
  const Theme& theme = context.theme;
  const std::size_t all = context.graph()->node_count();
  std::string text = rows.size() == all ? count_text(all) + " nodes"
                                        : count_text(rows.size()) + " of " + count_text(all) +
                                              " nodes match the filter";
  if (context.view_model != nullptr && context.view_model->samples != 0) {
    double median = 0, share = 0;
    std::uint64_t samples = 0, lost = 0;
    for (const std::uint32_t n : rows) {
      const GraphViewModel::Node& node = context.view_model->nodes[n];
      median += node.median;
      share += node.share;
      samples += node.count;
      lost += node.lost;
    }
    text += "      sum of medians " + duration_text(median) + "      " + percent_text(share) +
            " of total node time      " + count_text(samples) + " samples";
    if (lost != 0) text += "      " + count_text(lost) + " lost";
    double critical = 0;
    for (const model::PathStep& step : context.view_model->path.steps) critical += step.duration;
    text += "      critical path " + duration_text(critical);
  }
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  tooltip("Right-click a row to copy or filter, and the header to select columns.");
}

}  // namespace

void NodesPanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (context.graph() == nullptr) {
    draw_empty(theme, "No graph yet", "Waiting for a graph in the trace.");
    return;
  }
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
  double largest_share = 0;
  if (context.view_model != nullptr) {
    for (const std::uint32_t n : rows)
      largest_share = std::max(largest_share, context.view_model->nodes[n].share);
  }
  const float footer = ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y + 1;
  const ImGuiTableFlags flags =
      ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable |
      ImGuiTableFlags_Sortable | ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollX |
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_SizingFixedFit;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding,
                      {theme.half_space * 1.5f, theme.half_space * 0.75f});
  if (ImGui::BeginTable("nodes", static_cast<int>(kNodeColumns), flags, {0, -footer})) {
    set_up_columns();
    draw_headers(theme);
    state_->sort = current_sort(state_->sort);
    const float height =
        std::round(ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
    if (context.view.selection != state_->last_selection || context.view.reveal_selection) {
      state_->last_selection = context.view.selection;
      if (const auto* node = std::get_if<model::SelectedNode>(&state_->last_selection)) {
        const auto row = std::find(rows.begin(), rows.end(), node->node);
        if (node->graph == context.graph()->key() && row != rows.end())
          reveal(static_cast<std::size_t>(row - rows.begin()), height);
      }
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()), height);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_node_row(context, {rows[static_cast<std::size_t>(i)], rows, state_->sorter.scales(),
                                height, largest_share});
      }
    }
    handle_copy_keys(context, rows);
    handle_arrow_keys(context, rows);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  draw_footer(context, rows);
}

}  // namespace reprise::viewer

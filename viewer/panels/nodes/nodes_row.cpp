#include "panels/nodes/nodes_row.hpp"

#include <algorithm>

#include <imgui.h>

#include "panels/nodes/nodes_distribution.hpp"
#include "panels/nodes/nodes_menu.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

void draw_share(const PanelContext& context, const NodeRowDesc& desc, const std::string& text) {
  const Theme& theme = context.theme;
  const double share =
      context.view_model == nullptr ? 0 : context.view_model->nodes[desc.node].share;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float number = ImGui::CalcTextSize("<99.9 %").x;
  const float bar = width - number - theme.half_space;
  if (bar > 8 && share > 0 && desc.largest_share > 0) {
    const float top = at.y + line * 0.2f, bottom = at.y + line * 0.85f;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({at.x, top}, {at.x + bar, bottom}, with_alpha(theme.ink_faint, 0.18f), 2);
    draw->AddRectFilled(
        {at.x, top},
        {at.x + std::max(2.0f, bar * static_cast<float>(share / desc.largest_share)), bottom},
        with_alpha(theme.accent, 0.8f), 2);
  }
  text_right(text, theme.ink);
}

void draw_spread(const PanelContext& context, std::uint32_t node) {
  if (context.view_model == nullptr) return;
  const detail::DurationHistogram* all = times_of(*context.view_model, node);
  if (all == nullptr || all->count() < 2) return;
  const detail::DurationHistogram& times = *all;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  if (width < 12) return;
  const auto bars = static_cast<std::size_t>(std::clamp(width / 3, 8.0f, 48.0f));
  draw_bars(distribution(times, bars), at, {at.x + width, at.y + line},
            with_alpha(context.theme.ink_soft, 0.8f));
  ImGui::Dummy({width, line});
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) return;
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(context.graph()->node_name(node).c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
  ImGui::Text("%s samples", count_text(times.count()).c_str());
  ImGui::PopStyleColor();
  ImGui::BeginChild("spread", {ImGui::GetFontSize() * 22, ImGui::GetFontSize() * 8}, false,
                    ImGuiWindowFlags_NoInputs);
  draw_distribution(context.theme, distribution(times, 64), times.quantile(0.5), std::nullopt,
                    ImGui::GetFontSize() * 5);
  ImGui::EndChild();
  ImGui::EndTooltip();
}

// The mark of a node on the critical path: a shape, so that it does not rely on colour alone.
void draw_critical(const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetTextLineHeight() * 0.28f;
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  const ImVec2 middle{right - ImGui::CalcTextSize("Critical").x / 2,
                      at.y + ImGui::GetTextLineHeight() / 2};
  ImGui::GetWindowDrawList()->AddQuadFilled(
      {middle.x, middle.y - size}, {middle.x + size, middle.y}, {middle.x, middle.y + size},
      {middle.x - size, middle.y}, theme.critical);
  ImGui::Dummy({size, ImGui::GetTextLineHeight()});
}

bool is_dimmed(const PanelContext& context, NodeColumn column, std::uint32_t node) {
  if (context.view_model == nullptr) return false;
  const GraphViewModel::Node& statistics = context.view_model->nodes[node];
  return (column == NodeColumn::Lost && statistics.lost == 0) ||
         (column == NodeColumn::Slack && statistics.slack <= 0);
}

void draw_node_cell(const PanelContext& context, const NodeRowDesc& desc, NodeColumn column) {
  const Theme& theme = context.theme;
  if (column == NodeColumn::Spread) return draw_spread(context, desc.node);
  const std::string text =
      node_text(*context.graph(), context.view_model, desc.scales, column, desc.node);
  if (text.empty()) return;
  if (column == NodeColumn::Critical) return draw_critical(theme);
  const bool is_right =
      node_columns()[static_cast<std::size_t>(column)].align == ColumnAlign::Right;
  const bool is_mono = is_right || column == NodeColumn::Kernel || column == NodeColumn::Source;
  if (is_mono) ImGui::PushFont(theme.mono);
  if (column == NodeColumn::Share) {
    draw_share(context, desc, text);
  } else if (is_right) {
    text_right(text, is_dimmed(context, column, desc.node) ? theme.ink_faint : theme.ink);
  } else {
    if (text_ellipsis(text, column == NodeColumn::Kernel ? theme.ink : theme.ink_soft))
      tooltip(text);
  }
  if (is_mono) ImGui::PopFont();
}

void draw_name(PanelContext& context, const NodeRowDesc& desc) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  const model::SelectedNode node{graph.key(), desc.node};
  const bool selected = context.view.selection == model::Selection{node};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleColor(ImGuiCol_Header, theme.accent_soft);
  const auto flags = ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick |
                     ImGuiSelectableFlags_AllowItemOverlap;
  if (ImGui::Selectable("##row", selected, flags, {0, ImGui::GetTextLineHeight()})) {
    context.view.select(node);
    if (ImGui::IsMouseDoubleClicked(0)) context.view.show(View::Graph);
  }
  ImGui::PopStyleColor();
  if (ImGui::IsItemHovered()) context.view.hovered = node;
  draw_node_menu(context, desc.node, desc.row);
  const float line = ImGui::GetTextLineHeight(), chip = line * 0.62f,
              top = at.y + (line - chip) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + chip, top + chip},
                                            node_colour(context, desc.node), 2);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorScreenPos({at.x + chip + theme.space * 0.75f, at.y});
  const std::string name = graph.node_name(desc.node), whole = whole_kernel_text(graph, desc.node);
  const bool is_cut = text_ellipsis(name, theme.ink);
  if (!whole.empty()) {
    tooltip(name + "\n" + whole);
  } else if (is_cut) {
    tooltip(name);
  }
}

}  // namespace

void draw_node_row(PanelContext& context, const NodeRowDesc& desc) {
  ImGui::TableNextRow(ImGuiTableRowFlags_None, desc.height);
  const model::Graph& graph = *context.graph();
  if (context.view.selection != model::Selection{model::SelectedNode{graph.key(), desc.node}}) {
    // Highlights nodes that are hovered in another panel or that relate to the selection.
    if (model::selects_node(context.view.hovered, graph, desc.node)) {
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, context.theme.hovered);
    } else if (model::selects_node(context.view.selection, graph, desc.node)) {
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1,
                             with_alpha(context.theme.accent_soft, 0.5f));
    }
  }
  ImGui::PushID(static_cast<int>(desc.node));
  for (std::size_t i = 0; i < kNodeColumns; ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    if (const auto column = static_cast<NodeColumn>(i); column == NodeColumn::Name) {
      draw_name(context, desc);
    } else {
      draw_node_cell(context, desc, column);
    }
  }
  ImGui::PopID();
}

}  // namespace reprise::viewer

#include "panels/nodes/nodes_menu.hpp"

#include <algorithm>

#include <imgui.h>

#include "panels/shared/keys.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

void draw_node_menu(PanelContext& context, std::uint32_t node, std::size_t row) {
  if (!ImGui::BeginPopupContextItem("menu")) return;
  draw_item_menu(context, model::SelectedNode{context.graph()->key(), node});
  ImGui::Separator();
  draw_csv_items(context.view, row);
  ImGui::EndPopup();
}

std::optional<std::size_t> row_of_selection(const PanelContext& context,
                                            std::span<const std::uint32_t> rows) {
  const auto* selected = std::get_if<model::SelectedNode>(&context.view.selection);
  if (selected == nullptr || selected->graph != context.graph()->key()) return std::nullopt;
  const auto row = std::find(rows.begin(), rows.end(), selected->node);
  if (row == rows.end()) return std::nullopt;
  return static_cast<std::size_t>(row - rows.begin());
}

void handle_arrow_keys(PanelContext& context, std::span<const std::uint32_t> rows) {
  if (rows.empty() || !ImGui::IsWindowFocused()) return;
  const bool up = is_pressed(Key::Up), down = is_pressed(Key::Down);
  if (up == down) return;
  std::size_t next = 0;
  if (const auto at = row_of_selection(context, rows)) {
    if ((up && *at == 0) || (down && *at + 1 == rows.size())) return;
    next = up ? *at - 1 : *at + 1;
  }
  context.view.select(model::SelectedNode{context.graph()->key(), rows[next]});
}

}  // namespace reprise::viewer

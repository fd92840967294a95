#include "panels/nodes/nodes_menu.hpp"

#include <algorithm>

#include <imgui.h>

#include "panels/nodes/nodes_columns.hpp"
#include "panels/shared/keys.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

void copy(const PanelContext& context, std::span<const std::uint32_t> nodes) {
  ImGui::SetClipboardText(nodes_as_tsv(*context.graph(), context.view_model, nodes).c_str());
}

}  // namespace

void draw_node_menu(PanelContext& context, std::uint32_t node,
                    std::span<const std::uint32_t> rows) {
  if (!ImGui::BeginPopupContextItem("menu")) return;
  const model::Graph& graph = *context.graph();
  ViewState& view = context.view;
  const auto show_in = [&](UpperTab tab) {
    view.select(model::SelectedNode{graph.key(), node});
    view.upper = tab;
  };
  if (ImGui::MenuItem("Show in the graph")) show_in(UpperTab::Graph);
  if (ImGui::MenuItem("Show in the timeline")) show_in(UpperTab::Timeline);
  ImGui::Separator();
  const std::string& kernel = graph.kernel_name(node);
  const std::uint32_t label = graph.record().nodes[node].label;
  if (!kernel.empty() && ImGui::MenuItem("Filter by this kernel")) view.filter.text = kernel;
  if (label != 0 && ImGui::MenuItem("Filter by this label")) view.filter.labels = {label};
  if (!view.filter.is_empty() && ImGui::MenuItem("Clear filter")) view.filter = {};
  ImGui::Separator();
  if (ImGui::MenuItem("Copy name")) ImGui::SetClipboardText(graph.node_name(node).c_str());
  if (ImGui::MenuItem("Copy row", "Ctrl+C")) copy(context, std::span(&node, 1));
  if (ImGui::MenuItem(("Copy all " + count_text(rows.size()) + " rows").c_str(), "Ctrl+Shift+C"))
    copy(context, rows);
  ImGui::EndPopup();
}

void handle_copy_keys(const PanelContext& context, std::span<const std::uint32_t> rows) {
  const ImGuiIO& io = ImGui::GetIO();
  const int key = ImGui::GetKeyIndex(ImGuiKey_C);
  if (!io.KeyCtrl || io.WantTextInput || key < 0 || !ImGui::IsWindowFocused() ||
      !ImGui::IsKeyPressed(key, false))
    return;
  const auto* selected = std::get_if<model::SelectedNode>(&context.view.selection);
  if (io.KeyShift) {
    copy(context, rows);
  } else if (selected != nullptr && selected->graph == context.graph()->key()) {
    copy(context, std::span(&selected->node, 1));
  }
}

void handle_arrow_keys(PanelContext& context, std::span<const std::uint32_t> rows) {
  if (rows.empty() || !ImGui::IsWindowFocused()) return;
  const bool up = is_pressed(Key::Up), down = is_pressed(Key::Down);
  if (up == down) return;
  const auto* selected = std::get_if<model::SelectedNode>(&context.view.selection);
  const auto at = selected != nullptr && selected->graph == context.graph()->key()
                      ? std::find(rows.begin(), rows.end(), selected->node)
                      : rows.end();
  auto next = rows.begin();
  if (at != rows.end()) {
    if ((up && at == rows.begin()) || (down && at + 1 == rows.end())) return;
    next = up ? at - 1 : at + 1;
  }
  context.view.select(model::SelectedNode{context.graph()->key(), *next});
}

}  // namespace reprise::viewer

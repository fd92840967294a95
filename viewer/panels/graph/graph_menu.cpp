#include "panels/graph/graph_menu.hpp"

#include <string>

#include "panels/widgets/item_menu.hpp"

namespace reprise::viewer {

void GraphMenu::open(const GraphHit& hit) {
  hit_ = hit;
  opening_ = true;
}

GraphMenuAction GraphMenu::draw(PanelContext& context, const GraphScene& scene,
                                const GraphOptions& options) {
  if (opening_) {
    ImGui::OpenPopup("graph menu");
    opening_ = false;
  }
  GraphMenuAction action;
  is_open_ = ImGui::BeginPopup("graph menu");
  if (!is_open_) return action;
  const model::Graph& graph = scene.graph();
  std::uint32_t label = hit_.area != trace::kNone ? scene.areas[hit_.area].group + 1 : trace::kNone;
  if (hit_.box != trace::kNone) {
    const GraphBox& box = scene.boxes[hit_.box];
    ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
    ImGui::TextUnformatted(box.name.c_str());
    ImGui::PopStyleColor();
    if (ImGui::MenuItem("Focus", "Double-click"))
      action = {.kind = GraphMenuAction::Focus, .box = hit_.box};
    if (box.node != trace::kNone) {
      if (const std::uint32_t area = area_of_node(scene, box.node); area != trace::kNone)
        label = scene.areas[area].group + 1;
    } else if (ImGui::MenuItem("Expand", "Double-click")) {
      action = {.kind = GraphMenuAction::Expand, .box = hit_.box};
    }
  }
  if (label != trace::kNone) {
    const std::string text = "Collapse " + label_name(graph, label);
    if (ImGui::MenuItem(text.c_str())) action = {.kind = GraphMenuAction::Collapse, .label = label};
  }
  if (hit_.box != trace::kNone && scene.boxes[hit_.box].node != trace::kNone) {
    ImGui::Separator();
    draw_item_menu(context, model::SelectedNode{graph.key(), scene.boxes[hit_.box].node});
  } else if (hit_.link != trace::kNone && !scene.edges_of(hit_.link).empty()) {
    draw_item_menu(context, model::SelectedEdge{graph.key(), scene.edges_of(hit_.link).front()});
    ImGui::Separator();
  }
  if (hit_.box != trace::kNone || label != trace::kNone) ImGui::Separator();
  if (ImGui::MenuItem("Fit to view", "Home")) action = {.kind = GraphMenuAction::Fit};
  if (ImGui::MenuItem("Critical path", "C", context.view.critical_path))
    action = {.kind = GraphMenuAction::ToggleCriticalPath};
  if (ImGui::MenuItem("Collapse all labels", nullptr, false,
                      graph.record().labels.size() > 1 || graph.node_count() > kMaxBoxes))
    action = {.kind = GraphMenuAction::CollapseAll};
  if (ImGui::MenuItem("Expand all", nullptr, false, scene.has_groups))
    action = {.kind = GraphMenuAction::ExpandAll};
  ImGui::Separator();
  if (ImGui::MenuItem("Save as SVG...")) action = {.kind = GraphMenuAction::SaveSvg};
  if (ImGui::MenuItem("Show frames/s", nullptr, options.frame_rate))
    action = {.kind = GraphMenuAction::ToggleFrameRate};
  ImGui::EndPopup();
  return action;
}

}  // namespace reprise::viewer

#include "panels/shared/note_bar.hpp"

#include <imgui_stdlib.h>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string name_of(const PanelContext& context, const model::Selection& selection) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    const model::GraphEntry* const entry = context.document->find(node->graph);
    return entry != nullptr && node->node < entry->graph->node_count()
               ? entry->graph->node_name(node->node)
               : std::string();
  }
  if (const auto* replay = std::get_if<model::SelectedReplay>(&selection))
    return "replay " + count_text(replay->replay);
  return {};
}

// A distinct ImGui id per item, so that a text field with focus never carries over to another item.
std::string id_of(const model::Selection& selection) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    return "node " + std::to_string(node->graph.graph) + "." + std::to_string(node->graph.version) +
           "." + std::to_string(node->node);
  }
  if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
    return "replay " + std::to_string(replay->graph.graph) + "." +
           std::to_string(replay->graph.version) + "." + std::to_string(replay->replay);
  }
  return "nothing";
}

}  // namespace

float NoteBar::height(const Theme& theme) { return std::round(36 * theme.scale); }

void NoteBar::draw(PanelContext& context, Notes& notes) {
  const Theme& theme = context.theme;
  if (!(item_ == context.view.selection)) {
    if (is_edited_) notes.set(item_, name_of(context, item_), text_);
    item_ = context.view.selection;
    text_ = notes.text_of(item_);
    is_edited_ = false;
  } else if (!is_edited_) {
    text_ = notes.text_of(item_);
  }
  const std::string name = name_of(context, item_);
  ImGui::SetCursorPosY(std::round((height(theme) - ImGui::GetFrameHeight()) / 2));
  ImGui::SetNextItemWidth(-theme.half_space);
  const std::string hint = "Add a note to " + shortened(name, 32);
  ImGui::InputTextWithHint(("##" + id_of(item_)).c_str(), hint.c_str(), &text_);
  is_edited_ = ImGui::IsItemActive();
  if (ImGui::IsItemDeactivatedAfterEdit()) notes.set(item_, name, text_);
  const std::string error = notes.error();
  if (!error.empty()) {
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRect(min, max, theme.error, theme.radius);
  }
  tooltip(error.empty()
              ? "Saved next to the trace as TRACE.notes.json; listed in the Messages panel"
              : error);
}

}  // namespace reprise::viewer

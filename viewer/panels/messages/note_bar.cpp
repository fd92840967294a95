#include "panels/messages/note_bar.hpp"

#include <imgui_stdlib.h>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "panels/graph/graph_choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxBookmarkLength = 48;

std::string span_name(const model::Document& document, const model::SelectedSpan& span) {
  return "timeline at " + duration_text(static_cast<double>(span.started - document.first)) + ", " +
         duration_text(static_cast<double>(span.ended - span.started));
}

std::string name_of(const PanelContext& context, const model::Selection& selection) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    const model::GraphEntry* const entry = context.document->find(node->graph);
    return entry != nullptr && node->node < entry->graph->node_count()
               ? entry->graph->node_name(node->node)
               : std::string();
  }
  if (const auto* replay = std::get_if<model::SelectedReplay>(&selection))
    return "replay " + count_text(replay->replay);
  if (const auto* span = std::get_if<model::SelectedSpan>(&selection))
    return span_name(*context.document, *span);
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
  if (const auto* span = std::get_if<model::SelectedSpan>(&selection))
    return "span " + std::to_string(span->started) + "." + std::to_string(span->ended);
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
  if (std::exchange(context.view.focus_note, false)) ImGui::SetKeyboardFocusHere();
  ImGui::InputTextWithHint(("##" + id_of(item_)).c_str(), hint.c_str(), &text_);
  is_edited_ = ImGui::IsItemActive();
  if (ImGui::IsItemDeactivatedAfterEdit()) notes.set(item_, name, text_);
  const std::string error = notes.error();
  if (!error.empty()) {
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRect(min, max, theme.error, theme.radius);
  }
  tooltip(error.empty()
              ? "Saved next to the trace as TRACE.notes.json; listed under Bookmarks (Ctrl+B) and "
                "in the Messages panel"
              : error);
}

std::string note_target_name(const model::Document& document, const Note& note) {
  if (note.target == Note::Target::Span) return span_name(document, note.span);
  const model::GraphEntry* const entry = document.find(note.graph);
  if (entry == nullptr) return {};
  const std::string graph = entry->graph->name() + ", ";
  if (note.target == Note::Target::Replay) return graph + "replay " + count_text(note.number);
  return note.number < entry->graph->node_count()
             ? graph + entry->graph->node_name(static_cast<std::uint32_t>(note.number))
             : graph;
}

model::Selection note_target(const model::Document& document, const Note& note) {
  model::Selection target = note.span;
  if (note.target == Note::Target::Node)
    target = model::SelectedNode{note.graph, static_cast<std::uint32_t>(note.number)};
  if (note.target == Note::Target::Replay) target = model::SelectedReplay{note.graph, note.number};
  return selection_exists(target, document) ? target : model::Selection{};
}

void draw_bookmark_items(PanelContext& context, const Notes& notes) {
  const std::vector<Note> all = notes.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Note& note = all[i];
    if (note.text.empty()) continue;
    const model::Selection target = note_target(*context.document, note);
    const bool is_found = !std::holds_alternative<std::monostate>(target);
    const std::string text =
                          shortened(note.text.substr(0, note.text.find('\n')), kMaxBookmarkLength),
                      name =
                          shortened(note_target_name(*context.document, note), kMaxBookmarkLength);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::MenuItem(text.c_str(), name.c_str(), context.view.selection == target && is_found,
                        is_found))
      context.view.go_to(target);
    ImGui::PopID();
  }
  if (all.empty()) ImGui::TextDisabled("No bookmarks");
  ImGui::Separator();
  if (ImGui::MenuItem("Bookmark the selection...", nullptr, false,
                      Notes::can_have_one(context.view.selection)))
    context.view.focus_note = true;
  ImGui::TextDisabled("Bookmarks are the notes on nodes, replays and spans of the timeline.");
}

}  // namespace reprise::viewer

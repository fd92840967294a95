#include "panels/inspector/inspector_panel.hpp"

#include <variant>

#include <imgui.h>

#include "panels/inspector/inspector_buffer.hpp"
#include "panels/inspector/inspector_graph.hpp"
#include "panels/inspector/inspector_node.hpp"
#include "panels/inspector/inspector_order.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/inspector/inspector_replay.hpp"
#include "panels/inspector/inspector_session.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

struct InspectorPanel::State {
  explicit State(Background& background)
      : graph(background),
        node(background),
        buffer(background),
        replay(background),
        order(background) {}

  GraphPage graph;
  NodePage node;
  BufferPage buffer;
  ReplayPage replay;
  OrderPage order;
  model::Selection last_selection;  // a new selection resets the scroll position
};

InspectorPanel::InspectorPanel(Background& background)
    : state_(std::make_unique<State>(background)) {}
InspectorPanel::~InspectorPanel() = default;

namespace {

// The graph that contains the selected item; null if the selection names none.
const model::GraphKey* graph_of(const model::Selection& selection) {
  return std::visit(
      [](const auto& item) -> const model::GraphKey* {
        if constexpr (requires { item.graph; }) {
          return &item.graph;
        } else {
          return nullptr;
        }
      },
      selection);
}

// A selection outlives documents, so the selected item may not exist in `version`.
bool exists_in(const model::Selection& selection, const trace::GraphVersion& version) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection))
    return node->node < version.nodes.size();
  if (const auto* buffer = std::get_if<model::SelectedBuffer>(&selection))
    return buffer->buffer < version.buffers.size();
  if (const auto* barrier = std::get_if<model::SelectedBarrier>(&selection))
    return barrier->barrier < version.barriers.size();
  if (const auto* edge = std::get_if<model::SelectedEdge>(&selection))
    return edge->edge < version.edges.size();
  return true;
}

void draw_other_graph(PanelContext& context, model::GraphKey key) {
  const model::GraphEntry* entry = context.document->find(key);
  draw_title(context.theme, "selection", "In another graph");
  if (entry == nullptr) {
    draw_note(context.theme, "The trace does not contain the graph of the selected item.");
  } else {
    draw_note(context.theme, "The selected item belongs to " + entry->graph->name() + ", version " +
                                 count_text(key.version) + ".");
    if (draw_action(context.theme, "Show graph")) context.view.show_graph(key);
    next_action("Clear selection");
  }
  if (draw_action(context.theme, "Clear selection")) context.view.selection = {};
}

}  // namespace

void InspectorPanel::draw(PanelContext& context) {
  if (context.graph() == nullptr) {
    if (context.document->sessions->empty()) {
      draw_empty(context.theme, "Nothing to inspect yet", "Waiting for a graph in the trace.");
    } else {
      draw_title(context.theme, "trace", context.name);
      draw_note(context.theme, "No graph yet.");
      draw_session(context);
    }
    return;
  }
  ImGui::BeginChild("inspector");
  const model::Selection selection = context.view.selection;  // a copy, as pages modify it
  if (selection != state_->last_selection) {
    state_->last_selection = selection;
    ImGui::SetScrollY(0);
  }
  const model::GraphKey* key = graph_of(selection);
  if (key == nullptr) {
    state_->graph.draw(context);
  } else if (*key != context.graph()->key() || !exists_in(selection, context.graph()->record())) {
    draw_other_graph(context, *key);
  } else if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    state_->node.draw(context, node->node);
  } else if (const auto* buffer = std::get_if<model::SelectedBuffer>(&selection)) {
    state_->buffer.draw(context, buffer->buffer);
  } else if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
    state_->replay.draw(context, replay->replay);
  } else if (const auto* barrier = std::get_if<model::SelectedBarrier>(&selection)) {
    state_->order.draw_barrier(context, barrier->barrier);
  } else if (const auto* edge = std::get_if<model::SelectedEdge>(&selection)) {
    state_->order.draw_edge(context, edge->edge);
  }
  ImGui::EndChild();
}

}  // namespace reprise::viewer

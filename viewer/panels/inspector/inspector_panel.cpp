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
  model::Selection seen;  // another one is read from its top
};

InspectorPanel::InspectorPanel(Background& background)
    : state_(std::make_unique<State>(background)) {}
InspectorPanel::~InspectorPanel() = default;

namespace {

// The graph that a selection is of; null: it has none.
const model::GraphKey* graph_of(const model::Selection& selection) {
  return std::visit(
      [](const auto& what) -> const model::GraphKey* {
        if constexpr (requires { what.graph; }) {
          return &what.graph;
        } else {
          return nullptr;
        }
      },
      selection);
}

// A selection outlives documents: what it names may be in none of them.
bool is_there(const model::Selection& selection, const trace::GraphVersion& version) {
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

void draw_elsewhere(PanelContext& context, model::GraphKey key) {
  const model::GraphEntry* entry = context.document->find(key);
  draw_title(context.theme, "selection", "In another graph");
  if (entry == nullptr) {
    draw_note(context.theme, "What is selected is in a graph that this trace does not have.");
  } else {
    draw_note(context.theme, "What is selected is in " + entry->graph->name() + ", version " +
                                 count_text(key.version) + ".");
    if (draw_action(context.theme, "Show that graph")) context.view.graph = key;
    next_action("Forget the selection");
  }
  if (draw_action(context.theme, "Forget the selection")) context.view.selection = {};
}

}  // namespace

void InspectorPanel::draw(PanelContext& context) {
  if (context.graph() == nullptr) {
    if (context.document->sessions->empty()) {
      draw_empty(context.theme, "Nothing to inspect yet",
                 "As soon as the trace describes a graph, what you select is explained here.");
    } else {
      draw_title(context.theme, "trace", context.name);
      draw_note(context.theme, "It has no graph yet.");
      draw_session(context);
    }
    return;
  }
  ImGui::BeginChild("inspector");
  const model::Selection selection = context.view.selection;  // pages change it
  if (selection != state_->seen) {
    state_->seen = selection;
    ImGui::SetScrollY(0);
  }
  const model::GraphKey* key = graph_of(selection);
  if (key == nullptr) {
    state_->graph.draw(context);
  } else if (*key != context.graph()->key() || !is_there(selection, context.graph()->record())) {
    draw_elsewhere(context, *key);
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

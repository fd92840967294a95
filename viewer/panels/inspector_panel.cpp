#include "panels/inspector_panel.hpp"

#include <variant>

#include <imgui.h>

#include "panels/format.hpp"
#include "panels/inspector_buffer.hpp"
#include "panels/inspector_graph.hpp"
#include "panels/inspector_node.hpp"
#include "panels/inspector_order.hpp"
#include "panels/inspector_parts.hpp"
#include "panels/inspector_replay.hpp"
#include "panels/inspector_session.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

struct InspectorPanel::State {
  explicit State(Background& background) : graph(background), node(background), buffer(background), replay(background), order(background) {}

  GraphPage graph;
  NodePage node;
  BufferPage buffer;
  ReplayPage replay;
  OrderPage order;
  model::Selection seen;  // another one is read from its top
};

InspectorPanel::InspectorPanel(Background& background) : state_(std::make_unique<State>(background)) {}
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
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) return node->node < version.nodes.size();
  if (const auto* buffer = std::get_if<model::SelectedBuffer>(&selection)) return buffer->buffer < version.buffers.size();
  if (const auto* barrier = std::get_if<model::SelectedBarrier>(&selection)) return barrier->barrier < version.barriers.size();
  if (const auto* edge = std::get_if<model::SelectedEdge>(&selection)) return edge->edge < version.edges.size();
  return true;
}

void draw_elsewhere(Frame& frame, model::GraphKey key) {
  const model::GraphEntry* entry = frame.document->find(key);
  draw_title(frame.theme, "selection", "In another graph");
  if (entry == nullptr) {
    draw_note(frame.theme, "What is selected is in a graph that this trace does not have.");
  } else {
    draw_note(frame.theme, "What is selected is in " + entry->graph->name() + ", version " + count_text(key.version) + ".");
    if (draw_action(frame.theme, "Show that graph")) frame.view.graph = key;
    next_action("Forget the selection");
  }
  if (draw_action(frame.theme, "Forget the selection")) frame.view.selection = {};
}

}  // namespace

void InspectorPanel::draw(Frame& frame) {
  if (frame.graph() == nullptr) {
    if (frame.document->sessions->empty()) {
      draw_empty(frame.theme, "Nothing to inspect yet", "As soon as the trace describes a graph, what you select is explained here.");
    } else {
      draw_title(frame.theme, "trace", frame.name);
      draw_note(frame.theme, "It has no graph yet.");
      draw_session(frame);
    }
    return;
  }
  ImGui::BeginChild("inspector");
  const model::Selection selection = frame.view.selection;  // pages change it
  if (selection != state_->seen) {
    state_->seen = selection;
    ImGui::SetScrollY(0);
  }
  const model::GraphKey* key = graph_of(selection);
  if (key == nullptr) {
    state_->graph.draw(frame);
  } else if (*key != frame.graph()->key() || !is_there(selection, frame.graph()->record())) {
    draw_elsewhere(frame, *key);
  } else if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    state_->node.draw(frame, node->node);
  } else if (const auto* buffer = std::get_if<model::SelectedBuffer>(&selection)) {
    state_->buffer.draw(frame, buffer->buffer);
  } else if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
    state_->replay.draw(frame, replay->replay);
  } else if (const auto* barrier = std::get_if<model::SelectedBarrier>(&selection)) {
    state_->order.draw_barrier(frame, barrier->barrier);
  } else if (const auto* edge = std::get_if<model::SelectedEdge>(&selection)) {
    state_->order.draw_edge(frame, edge->edge);
  }
  ImGui::EndChild();
}

}  // namespace reprise::viewer

#include "panels/graph_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct GraphPanel::State {
  Background& background;
};

GraphPanel::GraphPanel(Background& background) : state_(std::make_unique<State>(State{background})) {}
GraphPanel::~GraphPanel() = default;

void GraphPanel::draw(Frame& frame) {
  if (frame.graph() == nullptr) draw_empty(frame.theme, "No graph yet", "A graph appears when one is compiled.");
}

}  // namespace reprise::viewer

#include "panels/nodes_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct NodesPanel::State {};

NodesPanel::NodesPanel(Background&) : state_(std::make_unique<State>()) {}
NodesPanel::~NodesPanel() = default;

void NodesPanel::draw(Frame& frame) { draw_empty(frame.theme, "There is nothing to show yet"); }

}  // namespace reprise::viewer

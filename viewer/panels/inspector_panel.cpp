#include "panels/inspector_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct InspectorPanel::State {};

InspectorPanel::InspectorPanel(Background&) : state_(std::make_unique<State>()) {}
InspectorPanel::~InspectorPanel() = default;

void InspectorPanel::draw(Frame& frame) { draw_empty(frame.theme, "There is nothing to show yet"); }

}  // namespace reprise::viewer

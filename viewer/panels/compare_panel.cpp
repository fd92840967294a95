#include "panels/compare_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct ComparePanel::State {};

ComparePanel::ComparePanel(Background&) : state_(std::make_unique<State>()) {}
ComparePanel::~ComparePanel() = default;

void ComparePanel::draw(Frame& frame) { draw_empty(frame.theme, "There is nothing to show yet"); }

}  // namespace reprise::viewer

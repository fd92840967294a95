#include "panels/replays_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct ReplaysPanel::State {};

ReplaysPanel::ReplaysPanel(Background&) : state_(std::make_unique<State>()) {}
ReplaysPanel::~ReplaysPanel() = default;

void ReplaysPanel::draw(Frame& frame) { draw_empty(frame.theme, "Waits for the first replay"); }

}  // namespace reprise::viewer

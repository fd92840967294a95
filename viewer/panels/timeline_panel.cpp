#include "panels/timeline_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct TimelinePanel::State {};

TimelinePanel::TimelinePanel(Background&) : state_(std::make_unique<State>()) {}
TimelinePanel::~TimelinePanel() = default;

void TimelinePanel::draw(Frame& frame) { draw_empty(frame.theme, "Waits for the first replay"); }

}  // namespace reprise::viewer

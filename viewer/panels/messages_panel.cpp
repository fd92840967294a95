#include "panels/messages_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct MessagesPanel::State {};

MessagesPanel::MessagesPanel(Background&) : state_(std::make_unique<State>()) {}
MessagesPanel::~MessagesPanel() = default;

void MessagesPanel::draw(Frame& frame) { draw_empty(frame.theme, "No messages"); }

}  // namespace reprise::viewer

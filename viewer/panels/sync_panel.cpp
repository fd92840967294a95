#include "panels/sync_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct SyncPanel::State {
  explicit State(Background& background) : background(background) {}

  Background& background;
};

SyncPanel::SyncPanel(Background& background) : state_(std::make_unique<State>(background)) {}
SyncPanel::~SyncPanel() = default;

void SyncPanel::draw(Frame& frame) {
  draw_empty(frame.theme, "No synchronisation to show", frame.entry ? "" : "The trace describes no graph.");
}

}  // namespace reprise::viewer

#include "panels/memory_panel.hpp"

#include "panels/widgets.hpp"

namespace reprise::viewer {

struct MemoryPanel::State {
  explicit State(Background& background) : background(background) {}

  Background& background;
};

MemoryPanel::MemoryPanel(Background& background) : state_(std::make_unique<State>(background)) {}
MemoryPanel::~MemoryPanel() = default;

void MemoryPanel::draw(Frame& frame) {
  draw_empty(frame.theme, "No memory to show", frame.entry ? "" : "The trace describes no graph.");
}

}  // namespace reprise::viewer

// The context menus of nodes, replays, buffers, edges, barriers and graphs, which are the same in
// every view. Threads: drawing thread only.
#pragma once

#include <cstddef>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// The items of the menu of an object of the shown graph, of a replay of any graph, or of a span of
// the timeline. Call between BeginPopup() and EndPopup().
void draw_item_menu(PanelContext& context, const model::Selection& item);
void draw_graph_menu(PanelContext& context, model::GraphKey graph);
// The menu of the preceding ImGui item, which represents `item`.
void draw_context_menu(PanelContext& context, const model::Selection& item);
// The menu of the row that begin_row() started: that of its object, if it has one, and the export
// of the table.
void draw_row_menu(PanelContext& context, const model::Selection& item, std::size_t row);
// True if the right button was released on a canvas that it did not drag.
[[nodiscard]] bool is_menu_click();

// The menu of the object under the mouse on a canvas.
class CanvasMenu {
 public:
  // Opens the menu in the next begin(). Without an object, it contains only the caller's items.
  void open(model::Selection item);
  // Draws the items of the object. If it returns true, the caller may add items, and ends the menu
  // with ImGui::EndPopup(). Call in every frame.
  [[nodiscard]] bool begin(PanelContext& context);
  [[nodiscard]] const model::Selection& item() const noexcept { return item_; }

 private:
  model::Selection item_;
  bool opens_ = false;
};

}  // namespace reprise::viewer

// MemoryMap: a chart of the slab, offset over execution order or time, with a rectangle per
// transient from its first to its last use; above it the curve of live bytes with reference lines.
// A click on a rectangle selects the buffer, a click on the curve sets the cursor. Threads: the
// drawing thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "panels/memory/memory_colours.hpp"
#include "panels/memory/memory_emphasis.hpp"
#include "panels/memory/memory_view_model.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/item_menu.hpp"

namespace reprise::viewer {

class MemoryMap {
 public:
  struct Content {
    const MemoryViewModel& view_model;
    const std::vector<std::uint8_t>& matches;  // per buffer; empty: no filter
    MemoryColour colour = MemoryColour::Buffer;
    const model::LowerBound* bound = nullptr;  // its buffers are outlined; null: none
  };

  // Fills `size` at ImGui's cursor.
  void draw(PanelContext& context, const Content& content, ImVec2 size);

  // The time selected on the curve, in the unit of the view model; empty: the peak.
  [[nodiscard]] std::optional<trace::Time> cursor() const noexcept { return cursor_; }
  void set_cursor(std::optional<trace::Time> cursor) { cursor_ = cursor; }
  void fit() { canvas_.fit(); }

  // Screen rectangle of a buffer in the last drawn frame.
  struct Box {
    ImVec2 min{0, 0}, max{0, 0};
  };
  [[nodiscard]] Box box_of(const MemoryViewModel& view_model, std::uint32_t buffer) const;

 private:
  struct Regions {
    ImVec2 map_min, map_size, curve_min, curve_max;
    float right = 0;  // end of the right gutter
  };

  void draw_map(PanelContext& context, const Content& content, const Regions& regions);
  void draw_grid(const PanelContext& context, const Content& content, const Regions& regions) const;
  void draw_buffers(const PanelContext& context, const Content& content,
                    const MemoryEmphasis& emphasis) const;
  void draw_uses(const PanelContext& context, const MemoryViewModel& view_model,
                 std::uint32_t buffer) const;
  void draw_cursors(const PanelContext& context, const Content& content,
                    const MemoryEmphasis& emphasis) const;
  void handle_mouse(PanelContext& context, const Content& content);
  void draw_curve(PanelContext& context, const Content& content, const Regions& regions);
  void draw_lines(const PanelContext& context, const Content& content, const Regions& regions,
                  double highest) const;
  void reveal(const PanelContext& context, const Content& content);
  [[nodiscard]] float screen_x(double time) const { return canvas_.to_screen(time, 0).x; }

  Canvas canvas_{CanvasAxes::Each};
  CanvasMenu menu_;
  std::optional<trace::Time> cursor_;
};

// "node 12 gradient_edges", or "3.214 ms" for measured time.
[[nodiscard]] std::string position_text(const MemoryViewModel& view_model, trace::Time at);
// Tooltip of a buffer: size, offset, live range and aliases.
void draw_buffer_tooltip(const Theme& theme, const MemoryViewModel& view_model,
                         std::uint32_t buffer);

}  // namespace reprise::viewer

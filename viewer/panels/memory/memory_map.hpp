// MemoryMap: the slab as a picture, offset over schedule order or time, a rectangle for each
// transient from its first use to its last; above it the bytes that are live, with the lines that
// they are measured against. A click on a rectangle selects the buffer, one on the curve chooses a
// moment. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "panels/memory/memory_colours.hpp"
#include "panels/memory/memory_emphasis.hpp"
#include "panels/memory/memory_view_model.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

class MemoryMap {
 public:
  struct Content {
    const MemoryViewModel& view_model;
    const std::vector<std::uint8_t>&
        matches;  // a buffer each, 1 where the filter lets it pass; empty: no filter
    MemoryColour colour = MemoryColour::Label;
  };

  // Takes a rectangle of `size` at ImGui's cursor.
  void draw(PanelContext& context, const Content& content, ImVec2 size);

  // Of the facts' time; none: the peak.
  [[nodiscard]] std::optional<trace::Time> moment() const noexcept { return moment_; }
  void choose(std::optional<trace::Time> moment) { moment_ = moment; }
  void fit() { canvas_.fit(); }

  // Where a buffer's rectangle is on the screen, as it was drawn last.
  struct Box {
    ImVec2 min{0, 0}, max{0, 0};
  };
  [[nodiscard]] Box box_of(const MemoryViewModel& view_model, std::uint32_t buffer) const;

 private:
  struct Places {
    ImVec2 map_min, map_size, curve_min, curve_max;
    float right = 0;  // end of the gutter with the names of the lines
  };

  void draw_map(PanelContext& context, const Content& content, const Places& places);
  void draw_grid(const PanelContext& context, const Content& content, const Places& places) const;
  void draw_buffers(const PanelContext& context, const Content& content,
                    const MemoryEmphasis& lit) const;
  void draw_uses(const PanelContext& context, const MemoryViewModel& view_model,
                 std::uint32_t buffer) const;
  void draw_moments(const PanelContext& context, const Content& content,
                    const MemoryEmphasis& lit) const;
  void handle_mouse(PanelContext& context, const Content& content);
  void draw_curve(PanelContext& context, const Content& content, const Places& places);
  void draw_lines(const PanelContext& context, const Content& content, const Places& places,
                  double highest) const;
  void reveal(const PanelContext& context, const Content& content);
  [[nodiscard]] float screen_x(double time) const { return canvas_.to_screen(time, 0).x; }

  Canvas canvas_{CanvasAxes::Each};
  std::optional<trace::Time> moment_;
};

// "node 12 gradient_edges", or "3.214 ms" by measured time.
[[nodiscard]] std::string moment_text(const MemoryViewModel& view_model, trace::Time at);
// A buffer in a tooltip: its size, place, life, and with whom it shares bytes.
void draw_buffer_tooltip(const Theme& theme, const MemoryViewModel& view_model,
                         std::uint32_t buffer);

}  // namespace reprise::viewer

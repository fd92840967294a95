// Canvas: a rectangle of a window that shows a plane and supports pan and zoom. The wheel zooms at
// the cursor, a right drag pans, a middle drag zooms to the dragged rectangle, A and D pan, and W
// and S pan (with Shift: zoom). With one axis W and S always zoom. Home fits the bounds, and the
// canvas keeps them fitted until the user pans or zooms. With both axes x and y have the same
// scale; with one axis the plane is as high as the canvas. Draws only the rectangle of a middle
// drag. Threads: drawing thread only.
#pragma once

#include <imgui.h>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

// The axes that pan and zoom. Each: both axes, with independent scales (for example nodes and
// bytes); the bounds fill the canvas, Ctrl+wheel zooms only x, and Alt+wheel zooms only y.
enum class CanvasAxes { Both, Horizontal, Each };

// A rectangle in plane coordinates.
struct CanvasBounds {
  double left = 0, top = 0, right = 1, bottom = 1;
};

class Canvas {
 public:
  explicit Canvas(CanvasAxes axes) : axes_(axes) {}

  // Occupies the remaining area of the current ImGui window, or `size` where positive, and handles
  // mouse and keys. Returns true if the visible area changed. ImGui's clip rectangle is the canvas
  // until end().
  bool begin(const char* id, const CanvasBounds& bounds, const Theme& theme, ImVec2 size = {0, 0});
  void end();

  // Margin on each side of a shown area, as a fraction of it.
  static constexpr double kMargin = 0.04;
  // fit(), show() and centre() take effect in the next frame.
  void fit();                           // shows the bounds
  void show(const CanvasBounds& part);  // shows `part` with a margin
  void centre(double x, double y);      // keeps the zoom
  void follow_right(double right);      // pans so that `right` is at the right border

  [[nodiscard]] ImVec2 to_screen(double x, double y) const;
  [[nodiscard]] double x_of(float screen_x) const;
  [[nodiscard]] double y_of(float screen_y) const;
  // Screen points per plane unit.
  [[nodiscard]] double zoom_x() const noexcept { return zoom_x_; }
  [[nodiscard]] double zoom_y() const noexcept { return zoom_y_; }
  [[nodiscard]] CanvasBounds visible_area() const;
  // Corners of the canvas, in screen coordinates.
  [[nodiscard]] ImVec2 min() const noexcept { return min_; }
  [[nodiscard]] ImVec2 max() const noexcept { return max_; }
  [[nodiscard]] bool is_hovered() const noexcept { return hovered_; }
  // True in the frame in which a left click on the canvas ends without a drag.
  [[nodiscard]] bool is_clicked() const noexcept { return clicked_; }
  [[nodiscard]] bool is_double_clicked() const noexcept { return double_clicked_; }

 private:
  void apply_requests(const CanvasBounds& bounds, ImVec2 size, const Theme& theme);
  void take_input(const CanvasBounds& bounds, ImVec2 size, bool active);
  void zoom_about(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor);
  void zoom_each(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor);
  void zoom_at(ImVec2 at, double factor);
  [[nodiscard]] bool moves_down() const noexcept { return axes_ != CanvasAxes::Horizontal; }
  void limit(const CanvasBounds& bounds, ImVec2 size);

  CanvasAxes axes_;
  ImVec2 min_{0, 0}, max_{0, 0};
  double left_ = 0, top_ = 0, zoom_x_ = 1, zoom_y_ = 1;
  bool fit_ = true, hovered_ = false, clicked_ = false, double_clicked_ = false;
  bool has_part_ = false, has_centre_ = false, is_zooming_ = false, pressed_here_ = false;
  ImU32 zoom_fill_ = 0, zoom_line_ = 0;
  CanvasBounds part_{};
  double centre_x_ = 0, centre_y_ = 0;
  ImVec2 zoom_start_{0, 0};  // of a middle drag
};

}  // namespace reprise::viewer

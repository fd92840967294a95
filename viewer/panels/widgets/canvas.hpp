// Canvas: a rectangle of a window that shows a plane, which the mouse and the keys move and magnify
// the way people are used to: the wheel zooms at the cursor, a drag with the right button pans, one
// with the middle button zooms to what it frames, W A S D pan and zoom (with only one axis W and S
// zoom, with both they do while Shift is held; otherwise W A S D pan), Home shows everything. As
// long as nobody moves it, everything stays in sight. With both axes a point is as wide as high;
// with one, the plane is as high as the canvas. Draws nothing but the frame of a middle drag.
// Threads: the drawing thread's.
#pragma once

#include <imgui.h>

#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Which way the plane may be moved and magnified. Each: both ways, but one unit across is not one
// down (nodes and bytes, say): everything fills the canvas, and the wheel magnifies only across
// with Ctrl and only down with Alt.
enum class CanvasAxes { Both, Horizontal, Each };

struct CanvasBounds {
  double left = 0, top = 0, right = 1, bottom = 1;  // of what is on the plane
};

class Canvas {
 public:
  explicit Canvas(CanvasAxes axes) : axes_(axes) {}

  // Takes the rest of the current ImGui window (or `size`, where that is above 0), and what the
  // mouse and keys ask for. Returns true if the part in sight has changed. ImGui's clip rectangle
  // is the canvas until end().
  bool begin(const char* id, const CanvasBounds& bounds, const Theme& theme, ImVec2 size = {0, 0});
  void end();

  void fit();  // everything, in the next frame
  void keep_free(
      float points);  // at the left, while everything is shown: something else stands there
  void show(const CanvasBounds& part);  // this part, and a little around it, in the next frame
  void centre(double x, double y);      // as large as now, in the next frame
  void follow_right(double right);  // moves so that `right` is at the right border, as large as now

  [[nodiscard]] ImVec2 to_screen(double x, double y) const;
  [[nodiscard]] double x_of(float screen_x) const;
  [[nodiscard]] double y_of(float screen_y) const;
  [[nodiscard]] double zoom_x() const noexcept {
    return zoom_x_;
  }  // screen points for one of the plane
  [[nodiscard]] double zoom_y() const noexcept { return zoom_y_; }
  [[nodiscard]] CanvasBounds in_sight() const;
  [[nodiscard]] ImVec2 min() const noexcept { return min_; }  // of the rectangle, on the screen
  [[nodiscard]] ImVec2 max() const noexcept { return max_; }
  [[nodiscard]] bool is_hovered() const noexcept { return hovered_; }
  // The left button was let go where it went down, on nothing else: a click on the canvas.
  [[nodiscard]] bool is_clicked() const noexcept { return clicked_; }
  [[nodiscard]] bool is_double_clicked() const noexcept { return double_clicked_; }

 private:
  void place(const CanvasBounds& bounds, ImVec2 size, const Theme& theme);
  void take_input(const CanvasBounds& bounds, ImVec2 size, bool active);
  void zoom_about(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor);
  void zoom_each(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor);
  void zoom_at(ImVec2 at, double factor);
  [[nodiscard]] bool moves_down() const noexcept { return axes_ != CanvasAxes::Horizontal; }
  void limit(const CanvasBounds& bounds, ImVec2 size);

  CanvasAxes axes_;
  ImVec2 min_{0, 0}, max_{0, 0};
  double left_ = 0, top_ = 0, zoom_x_ = 1, zoom_y_ = 1;
  float free_ = 0;
  bool fit_ = true, hovered_ = false, clicked_ = false, double_clicked_ = false;
  bool has_part_ = false, has_centre_ = false, framing_ = false, pressed_here_ = false;
  ImU32 frame_fill_ = 0, frame_line_ = 0;
  CanvasBounds part_{};
  double centre_x_ = 0, centre_y_ = 0;
  ImVec2 frame_start_{0, 0};
};

}  // namespace reprise::viewer

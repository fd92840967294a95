// TimelineRuler: the time axis of a timeline, its grid lines, the bounds of the shown replay, the
// selected span, and a span that the user measures with a left drag. Threads: the drawing thread's.
#pragma once

#include <optional>
#include <utility>

#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

struct TimelineRulerDesc {
  const Theme& theme;
  const Canvas& canvas;
  float height = 20;
  double zero = 0;                                       // of the axis, plane coordinates
  // Start and end, plane coordinates.
  std::optional<std::pair<double, double>> replay = {}, selected = {};
};

class TimelineRuler {
 public:
  // Handles the mouse and Escape. Call first between the canvas's begin() and end().
  void update(const Canvas& canvas);
  void draw_lines(const TimelineRulerDesc& desc) const;  // behind the rows
  void draw(const TimelineRulerDesc& desc) const;        // in front of the rows
  [[nodiscard]] bool is_measuring() const noexcept { return measuring_; }
  [[nodiscard]] const std::optional<std::pair<double, double>>& span() const noexcept {
    return span_;
  }  // start and current end of the drag, plane coordinates
  void clear() { span_.reset(); }

 private:
  std::optional<std::pair<double, double>> span_;
  double pressed_ = 0;  // where the left button went down, plane coordinates
  bool is_pressed_ = false, measuring_ = false;
};

}  // namespace reprise::viewer

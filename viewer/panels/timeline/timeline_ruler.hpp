// TimelineRuler: the time axis of a timeline, its grid lines, the bounds of the shown replay, and
// the span that is selected, or is being selected by a left drag, with its length. Threads: the
// drawing thread's.
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
  // Handles the mouse. Call first between the canvas's begin() and end(). Returns the span of a
  // drag in the frame in which it ends, plane coordinates.
  std::optional<std::pair<double, double>> update(const Canvas& canvas);
  void draw_lines(const TimelineRulerDesc& desc) const;  // behind the rows
  void draw(const TimelineRulerDesc& desc) const;        // in front of the rows
  [[nodiscard]] bool is_dragging() const noexcept { return is_dragging_; }

 private:
  double pressed_ = 0,
         at_ = 0;  // where the left button went down, and the mouse; plane coordinates
  bool is_pressed_ = false, is_dragging_ = false;
};

}  // namespace reprise::viewer

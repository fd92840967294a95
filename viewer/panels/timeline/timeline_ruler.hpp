// TimelineRuler: the time axis above the rows of a timeline, its lines through them, where the
// shown replay begins and ends, and a span that the user measures with Shift and the left button.
// Threads: the drawing thread's.
#pragma once

#include <optional>
#include <utility>

#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

struct TimelineRulerDesc {
  const Theme& theme;
  const Canvas& canvas;
  float height = 20;
  std::optional<std::pair<double, double>> replay = {};  // where it begins and ends, on the plane
};

class TimelineRuler {
 public:
  // Takes what the mouse and Escape ask for. Call first between the canvas's begin() and end().
  void update(const Canvas& canvas);
  void draw_lines(const TimelineRulerDesc& desc) const;  // below the rows
  void draw(const TimelineRulerDesc& desc) const;        // above them
  [[nodiscard]] bool is_measuring() const noexcept { return measuring_; }
  [[nodiscard]] const std::optional<std::pair<double, double>>& span() const noexcept {
    return span_;
  }  // from where the drag began
  void clear() { span_.reset(); }

 private:
  std::optional<std::pair<double, double>> span_;
  bool measuring_ = false;
};

}  // namespace reprise::viewer

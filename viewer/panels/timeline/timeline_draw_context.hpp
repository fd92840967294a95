// TimelineDrawContext: what everything that draws in a timeline is given: the plane, where rows
// stand on the screen, and what the mouse is on. The plane's unit is a nanosecond from the begin of
// the shown replay. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_merge.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

// What the mouse is on.
struct NodeHit {  // a node, or several too narrow to see, the longest of them
  const TimelineScene* scene = nullptr;
  const model::TimelineItem* item = nullptr;
  std::size_t count = 1;
};
struct GapHit {
  const TimelineScene* scene = nullptr;
  const model::Gap* gap = nullptr;
};
struct ReplayHit {
  enum class What : std::uint8_t { Device, Launch };
  What what = What::Device;
  model::GraphKey graph;
  trace::Replay replay;
  std::size_t count = 1;  // that are one block
};
struct RangeHit {
  trace::HostRange range;
  std::size_t count = 1;
};
struct LabelHit {
  TimelineLabel label;
  std::size_t count = 1;
};
using TimelineHit = std::variant<std::monostate, NodeHit, GapHit, ReplayHit, RangeHit, LabelHit>;

// Which marks are drawn.
struct TimelineOptions {
  model::RowsBy by = model::RowsBy::Lane;
  bool is_by_chosen = false;  // by the user; otherwise lanes where the graph has any
  bool predecessor = true, false_dependency = true, bubble = true;
};

struct TimelineDrawContext {
  PanelContext& context;
  const Canvas& canvas;
  const TimelineLayout& layout;
  const TimelineOptions& options;
  trace::Time origin = 0;
  float top = 0;       // on the screen, of the layout's top
  float rows_top = 0;  // above it is the ruler
  TimelineHit hit = {};

  [[nodiscard]] double plane_of(trace::Time time) const {
    return static_cast<double>(time - origin);
  }
  [[nodiscard]] trace::Time time_of(double plane) const {
    return origin + static_cast<trace::Time>(plane);
  }
  [[nodiscard]] float x_of(trace::Time time) const { return canvas.to_screen(plane_of(time), 0).x; }
  [[nodiscard]] float unit() const { return static_cast<float>(1 / canvas.zoom_x()); }
  [[nodiscard]] bool is_in_sight(const TimelineRow& row) const {
    return top + row.top + row.height >= rows_top && top + row.top <= canvas.max().y;
  }
};

// A rectangle of a row on the screen, cut at the borders of the canvas, at least a little wide.
struct TimelineBox {
  ImVec2 min{0, 0}, max{0, 0};
  [[nodiscard]] float width() const { return max.x - min.x; }
};
[[nodiscard]] TimelineBox box_of(const TimelineDrawContext& sight, const TimelineRow& row,
                                 double began, double ended);
[[nodiscard]] bool is_below_mouse(const TimelineDrawContext& sight, const TimelineBox& box);
// As much of it as fits; nothing, where that would be less than two characters.
void draw_text_in(const TimelineDrawContext& sight, const TimelineBox& box, const std::string& text,
                  ImU32 colour);
// A box with its text; brighter below the mouse.
void draw_timeline_box(const TimelineDrawContext& sight, const TimelineBox& box, ImU32 fill,
                       const std::string& text);
// A colour laid thinly on the panel, opaque: 0 is the panel, 1 the colour.
[[nodiscard]] ImU32 muted(const Theme& theme, ImU32 colour, float part);
// Replays of a list that touch [from, to]: the first place, and the one after the last.
[[nodiscard]] std::pair<std::size_t, std::size_t> replays_between(
    const model::ListView<trace::Replay>& replays, trace::Time from, trace::Time to);

}  // namespace reprise::viewer

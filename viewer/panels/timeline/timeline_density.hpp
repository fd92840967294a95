// Draws the part of a timeline row in which items are too narrow to draw each: the height of each
// pixel column is the share of its time in which the row is busy. Threads: the drawing thread's.
#pragma once

#include <array>
#include <functional>

#include "model/busy_time.hpp"
#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// Stacked from the bottom.
struct DensityColumn {
  struct Part {
    double share = 0;  // 0 to 1, of all parts together too
    ImU32 colour = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::array<Part, 3> parts{};
  ImU32 mark = 0;  // a line at the top of the row; 0: none
};
// Called for the columns from left to right.
using DensityOf = std::function<DensityColumn(trace::Time from, trace::Time to)>;

// The height in pixels of a share: at least 1 unless it is 0, and all of `height` only if it is 1.
[[nodiscard]] float density_height(double share, float height);
// Draws a block of a row, in at most as many rectangles per part as it has pixel columns.
void draw_density(const TimelineDrawContext& dc, const TimelineBox& box, const DensityOf& of);
// The busy part of [from, to] and [block.started, block.ended], as a fraction of [from, to].
[[nodiscard]] double busy_share(model::BusyTime::Reader& busy, const TimelineSpan& block,
                                trace::Time from, trace::Time to);

}  // namespace reprise::viewer

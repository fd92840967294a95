#include "panels/timeline/timeline_density.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

using trace::Time;

namespace {

// The columns of equal heights and colours as one rectangle per part.
struct ColumnRun {
  std::array<float, 3> heights{};
  DensityColumn column;

  [[nodiscard]] bool continues(const ColumnRun& other) const {
    if (heights != other.heights || column.mark != other.column.mark) return false;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      if (heights[i] != 0 && column.parts[i].colour != other.column.parts[i].colour) return false;
    }
    return true;
  }
  void draw(const TimelineDrawContext& dc, const TimelineBox& box, float from, float to) const {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    float below = 0;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      if (heights[i] > below)
        list.AddRectFilled({from, box.max.y - heights[i]}, {to, box.max.y - below},
                           column.parts[i].colour);
      below = std::max(below, heights[i]);
    }
    if (column.mark != 0)
      list.AddRectFilled({from, box.min.y}, {to, box.min.y + 2 * dc.context.theme.scale},
                         column.mark);
  }
};

ColumnRun column_run_of(const DensityColumn& column, float height) {
  ColumnRun run{{}, column};
  double share = 0;
  for (std::size_t i = 0; i < run.heights.size(); ++i) {
    share += column.parts[i].share;
    run.heights[i] = column.parts[i].share > 0 ? density_height(share, height) : 0;
  }
  return run;
}

}  // namespace

float density_height(double share, float height) {
  if (share <= 0) return 0;
  if (share >= 0.9995) return height;
  return std::clamp(std::floor(static_cast<float>(share) * height), 1.0f,
                    std::max(height - 1, 1.0f));
}

double busy_share(model::BusyTime::Reader& busy, const TimelineSpan& block, Time from, Time to) {
  const Time time = busy.between(std::max(from, block.started), std::min(to, block.ended));
  return static_cast<double>(std::max<Time>(time, 0)) / static_cast<double>(to - from);
}

void draw_density(const TimelineDrawContext& dc, const TimelineBox& box, const DensityOf& of) {
  const float left = std::floor(std::max(box.min.x, dc.canvas.min().x)),
              right = std::ceil(std::min(box.max.x, dc.canvas.max().x)),
              height = box.max.y - box.min.y;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled({left, box.min.y}, {right, box.max.y},
                     with_alpha(dc.context.theme.ink, 0.05f));
  const auto time_at = [&](float x) { return dc.time_of(dc.canvas.x_of(x)); };
  ColumnRun run;
  float start = left;
  Time from = time_at(left);
  for (float x = left; x < right; ++x) {
    const Time to = std::max(time_at(x + 1), from + 1);
    const ColumnRun next = column_run_of(of(from, to), height);
    if (!next.continues(run)) {
      run.draw(dc, box, start, x);
      run = next;
      start = x;
    }
    from = to;
  }
  run.draw(dc, box, start, right);
  const float mouse = std::floor(ImGui::GetIO().MousePos.x);
  if (is_below_mouse(dc, box))
    list.AddRectFilled({mouse - 1, box.min.y}, {mouse + 2, box.max.y},
                       with_alpha(dc.context.theme.ink, 0.3f));
}

}  // namespace reprise::viewer

#include "panels/replays/replays_plot.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "panels/replays/replays_bars.hpp"
#include "panels/replays/replays_colour.hpp"
#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

float width_of(const ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, 1e9f, 0, text.c_str()).x;
}

class Plot {
 public:
  Plot(const Theme& theme, const Canvas& canvas, const ReplayPlot& plot)
      : theme_(theme),
        canvas_(canvas),
        plot_(plot),
        list_(*ImGui::GetWindowDrawList()),
        small_(theme.small) {
    const CanvasBounds visible = canvas.visible_area();
    bars_ = replay_bars(plot.series, visible.left, visible.right, canvas.zoom_x());
    trace::Time max = 0;
    for (const ReplayBar& bar : bars_) max = std::max(max, bar.run.max);
    axis_ = strip_axis(max, plot.summary.median, plot.summary.p99, plot.summary.fence);
    bottom_ = plot.marks == ReplayPlot::Marks::All ? plot.bottom - 5 * theme.scale : plot.bottom;
  }

  void draw() {
    grid();
    ImGui::PushClipRect({canvas_.min().x, plot_.top}, {canvas_.max().x, plot_.bottom}, true);
    for (const ReplayBar& bar : bars_) draw(bar);
    if (plot_.marks == ReplayPlot::Marks::All) marks();
    shown();
    ImGui::PopClipRect();
    lines();
    if (plot_.title[0] != '\0') title();
  }

 private:
  [[nodiscard]] float y_of(double time) const {
    return bottom_ - static_cast<float>(axis_.position(time)) * (bottom_ - plot_.top);
  }

  struct Sides {
    float left = 0, right = 0;
  };
  [[nodiscard]] Sides sides(const ReplayBar& bar) const {
    const double end = static_cast<double>(bar.end);
    float left = std::floor(canvas_.to_screen(static_cast<double>(bar.first), 0).x),
          right = std::floor(canvas_.to_screen(end, 0).x);
    if (const float width = right - left; width >= 12) {
      right -= 2;
    } else if (width >= 4) {
      right -= 1;
    }
    return {left, std::max(right, left + 1)};
  }

  void grid() const {
    const double height = static_cast<double>(bottom_ - plot_.top) / (22 * theme_.scale),
                 linear = axis_.knee;
    double step = round_step(0, linear, std::max(2.0, axis_.is_linear() ? height : height / 2));
    if (step > linear * 0.95) step = round_step(0, linear, 4);
    float free_above = plot_.bottom + small_->FontSize;  // no label is above this y position
    for (const double tick : round_ticks(0, linear * 0.999, step))
      grid_line(tick, step, axis_.knee, free_above);
    if (axis_.is_linear()) return;
    const float knee = std::floor(y_of(axis_.knee)) + 0.5f;
    for (float x = canvas_.min().x; x < canvas_.max().x; x += 4)
      list_.AddLine({x, knee}, {x + 1, knee}, theme_.ink_soft);
    for (double decade = std::pow(10, std::floor(std::log10(axis_.knee))); decade < axis_.top;
         decade *= 10) {
      for (const double tick : {decade, 2 * decade, 5 * decade}) {
        if (tick > axis_.knee * 1.05 && tick < axis_.top) grid_line(tick, tick, tick, free_above);
      }
    }
  }

  // A line with its label, unless the label would cover the previous one.
  void grid_line(double tick, double step, double largest, float& free_above) const {
    const float y = std::floor(y_of(tick)) + 0.5f;
    list_.AddLine({canvas_.min().x, y}, {canvas_.max().x, y}, theme_.line);
    const std::string text = tick_text(tick, step, largest);
    const float text_y = std::clamp(y - small_->FontSize / 2, plot_.top - 3 * theme_.scale,
                                    plot_.bottom - small_->FontSize);
    if (text_y + small_->FontSize > free_above + 3) return;
    free_above = text_y;
    list_.PushClipRectFullScreen();
    list_.AddText(small_, small_->FontSize,
                  {canvas_.min().x - theme_.half_space - width_of(small_, text), text_y},
                  theme_.ink_soft, text.c_str());
    list_.PopClipRect();
  }

  [[nodiscard]] ImU32 colour(trace::Time time) const {
    // Secondary strips have one colour, as their bar heights show the same information.
    if (plot_.marks == ReplayPlot::Marks::None) return ratio_colour(theme_, 1);
    const double ratio = plot_.summary.median > 0
                             ? static_cast<double>(time) / static_cast<double>(plot_.summary.median)
                             : 0;
    return ratio_colour(theme_, ratio);
  }

  void draw(const ReplayBar& bar) const {
    const ReplayRun& run = bar.run;
    const auto [left, right] = sides(bar);
    const bool is_hovered =
        plot_.hovered && *plot_.hovered >= bar.first && *plot_.hovered < bar.end;
    if (is_hovered)
      list_.AddRectFilled({left, plot_.top}, {right, plot_.bottom}, with_alpha(theme_.ink, 0.14f));
    if (run.known == 0) return;
    const float dim =
        plot_.matches != nullptr && !plot_.matches->any(bar.first, bar.end) ? 0.22f : 1.0f;
    const float min_y = y_of(static_cast<double>(run.min)),
                max_y = y_of(static_cast<double>(run.max));
    // A bar is at least one point high.
    list_.AddRectFilled({left, std::min(min_y, bottom_ - 1)}, {right, bottom_},
                        with_alpha(colour(run.median), dim));
    if (bar.end - bar.first == 1 || run.max == run.min) return;
    list_.AddRectFilled({left, max_y}, {right, std::max(min_y, max_y + 1)},
                        with_alpha(colour(run.max), 0.5f * dim));
    const float middle = std::floor(y_of(static_cast<double>(run.median)));
    list_.AddRectFilled({left, middle}, {right, middle + 1}, with_alpha(theme_.ink, 0.8f * dim));
  }

  // Uses the source of the bar's last replay: a profile window covers more replays than a bar.
  [[nodiscard]] bool is_timestamped(const ReplayBar& bar) const {
    if (plot_.sources == nullptr || plot_.replays == nullptr || bar.end > plot_.replays->size())
      return false;
    return plot_.sources->of((*plot_.replays)[bar.end - 1].replay) ==
           trace::SampleSource::Timestamp;
  }

  void marks() const {
    const float base = plot_.bottom - 3 * theme_.scale, size = 3.5f * theme_.scale;
    float last = -1e9f;
    for (const ReplayBar& bar : bars_) {
      const auto [left, right] = sides(bar);
      const float middle = (left + right) / 2;
      const auto count = static_cast<std::uint32_t>(bar.end - bar.first);
      if (bar.run.sampled != 0) {
        const float top = is_timestamped(bar) ? plot_.bottom - 1.5f * theme_.scale : base;
        list_.AddRectFilled({left, top}, {right, plot_.bottom},
                            with_alpha(theme_.accent, bar.run.sampled == count ? 1 : 0.6f));
      }
      if (bar.run.known < count) {
        const float cross = std::clamp((right - left) / 2, 1.5f, size);
        list_.AddLine({middle - cross, bottom_ - 2 * cross}, {middle + cross, bottom_},
                      theme_.error, 1.5f * theme_.scale);
        list_.AddLine({middle + cross, bottom_ - 2 * cross}, {middle - cross, bottom_},
                      theme_.error, 1.5f * theme_.scale);
      }
      // Merges overlapping marks.
      if (plot_.summary.fence > 0 && bar.run.max > plot_.summary.fence &&
          middle - last >= 2 * size) {
        last = middle;
        const float y = std::max(y_of(static_cast<double>(bar.run.max)) - 2 * size - 1, plot_.top);
        list_.AddTriangleFilled({middle - size, y}, {middle + size, y}, {middle, y + 1.8f * size},
                                theme_.warning);
      }
    }
  }

  void shown() const {
    if (!plot_.shown) return;
    const double index = static_cast<double>(*plot_.shown);
    const float left = std::floor(canvas_.to_screen(index, 0).x),
                right = std::max(std::floor(canvas_.to_screen(index + 1, 0).x) - 1, left + 1);
    list_.AddRect({left - 1.5f, plot_.top}, {right + 1.5f, plot_.bottom}, theme_.accent, 0, 0,
                  1.5f * theme_.scale);
  }

  // Lines at the median and p99, with non-overlapping labels in the right margin.
  void lines() const {
    if (plot_.summary.median <= 0) return;
    const float line = small_->FontSize;
    float median = y_of(static_cast<double>(plot_.summary.median)),
          p99 = y_of(static_cast<double>(plot_.summary.p99));
    list_.AddLine({canvas_.min().x, median}, {canvas_.max().x, median},
                  with_alpha(theme_.ink, 0.75f));
    for (float x = canvas_.min().x; x < canvas_.max().x; x += 7)
      list_.AddLine({x, p99}, {std::min(x + 4, canvas_.max().x), p99},
                    with_alpha(theme_.ink, 0.55f));
    if (median - p99 < line) {
      const float middle = (median + p99) / 2;
      median = middle + line / 2;
      p99 = middle - line / 2;
    }
    const float low = plot_.bottom - line / 2;
    median = std::min(median, low);
    p99 = std::clamp(p99, plot_.top + line / 2 - 2, median - line);
    const float x = canvas_.max().x + theme_.half_space;
    const auto text = [&](float y, const char* name, trace::Time time, ImU32 colour) {
      const std::string label = name + duration_text(static_cast<double>(time));
      list_.AddText(small_, line, {x, y - line / 2}, colour, label.c_str());
    };
    list_.PushClipRectFullScreen();
    text(p99, "p99 ", plot_.summary.p99, theme_.ink_soft);
    text(median, "p50 ", plot_.summary.median, theme_.ink);
    const float knee = y_of(axis_.knee);
    if (!axis_.is_linear() && median - knee >= line && knee - p99 >= line)
      list_.AddText(small_, line, {x, knee - line / 2}, theme_.ink_faint, "log scale above");
    list_.PopClipRect();
  }

  void title() const {
    const ImVec2 at{canvas_.min().x + theme_.half_space, plot_.top + 1};
    list_.AddRectFilled({at.x - 2, at.y},
                        {at.x + width_of(small_, plot_.title) + 3, at.y + small_->FontSize + 1},
                        with_alpha(theme_.panel, 0.85f));
    list_.AddText(small_, small_->FontSize, at, theme_.ink, plot_.title);
  }

  const Theme& theme_;
  const Canvas& canvas_;
  const ReplayPlot& plot_;
  ImDrawList& list_;
  const ImFont* small_;
  std::vector<ReplayBar> bars_;
  StripAxis axis_;
  float bottom_ = 0;  // y position of the base line of the bars
};

}  // namespace

void draw_replay_plot(const Theme& theme, const Canvas& canvas, const ReplayPlot& plot) {
  Plot(theme, canvas, plot).draw();
}

void draw_replay_numbers(const Theme& theme, const Canvas& canvas,
                         const model::ListView<trace::Replay>& replays, float y) {
  if (replays.empty()) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImFont* const small = theme.small;
  const CanvasBounds visible = canvas.visible_area();
  const auto index_at = [&](double at) {
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(replays.size()) - 1));
  };
  const auto number = [&](std::size_t at) { return static_cast<double>(replays[at].replay); };
  const double from = number(index_at(std::floor(visible.left))),
               to = number(index_at(std::ceil(visible.right) - 1));
  const double max_ticks = (canvas.max().x - canvas.min().x) / (90.0 * theme.scale);
  float free_from = canvas.min().x - 1e9f;
  for (const double tick : round_ticks(from, to, round_step(from, to, max_ticks, 1))) {
    const std::size_t at = replays.lower_bound(
        tick, [](const trace::Replay& r, double n) { return static_cast<double>(r.replay) < n; });
    if (at >= replays.size() || number(at) != tick) continue;
    const std::string text = count_text(replays[at].replay);
    const float middle = canvas.to_screen(static_cast<double>(at) + 0.5, 0).x,
                half = width_of(small, text) / 2;
    const float x = std::clamp(middle - half, canvas.min().x,
                               std::max(canvas.min().x, canvas.max().x - 2 * half));
    if (x < free_from) continue;
    free_from = x + 2 * half + theme.space;
    list.AddLine({middle, y}, {middle, y + 2 * theme.scale}, theme.ink_faint);
    list.AddText(small, small->FontSize, {x, y + 2 * theme.scale}, theme.ink_soft, text.c_str());
  }
}

void draw_replay_range(const Theme& theme, const Canvas& canvas, std::size_t first, std::size_t end,
                       float top, float bottom) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto x_of = [&](std::size_t index) {
    return std::floor(canvas.to_screen(static_cast<double>(index), 0).x);
  };
  const float left = x_of(first), right = std::max(x_of(end), left + 1);
  const ImU32 dim = with_alpha(theme.panel, 0.62f);
  if (left > canvas.min().x) list.AddRectFilled({canvas.min().x, top}, {left, bottom}, dim);
  if (right < canvas.max().x) list.AddRectFilled({right, top}, {canvas.max().x, bottom}, dim);
  list.AddRectFilled({left, top}, {right, bottom}, with_alpha(theme.accent, 0.08f));
  const float height = std::min(22 * theme.scale, (bottom - top) * 0.6f), half = 3 * theme.scale,
              middle = (top + bottom) / 2;
  for (const float x : {left, right}) {
    list.AddLine({x, top}, {x, bottom}, theme.accent, 1.5f * theme.scale);
    list.AddRectFilled({x - half, middle - height / 2}, {x + half, middle + height / 2},
                       theme.accent, half);
    for (const float dx : {-1.0f, 1.0f})
      list.AddLine({x + dx, middle - height / 5}, {x + dx, middle + height / 5}, theme.on_accent);
  }
}

}  // namespace reprise::viewer

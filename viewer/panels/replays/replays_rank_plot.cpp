#include "panels/replays/replays_rank_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "panels/replays/replays_bars.hpp"
#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

class RankPainter {
 public:
  RankPainter(const Theme& theme, const Canvas& canvas, const RankPlot& plot)
      : theme_(theme), canvas_(canvas), plot_(plot), list_(*ImGui::GetWindowDrawList()) {
    const CanvasBounds visible = canvas.visible_area();
    const auto bars_of = [&](const ReplaySeries& series) {
      auto bars = replay_bars(series, visible.left, visible.right, canvas.zoom_x());
      for (const ReplayBar& bar : bars) {
        if (bar.run.known == 0) continue;
        min_ = min_ < 0 ? bar.run.min : std::min(min_, bar.run.min);
        longest_.push_back(bar.run.max);
      }
      return bars;
    };
    for (const RankSeries::Line& line : plot.series.lines) lines_.push_back(bars_of(line.times));
    low_ = bars_of(plot.series.low);
    high_ = bars_of(plot.series.high);
    if (!longest_.empty()) max_ = std::max(top_of_scale(std::move(longest_)), min_);
    text_ = theme.small->FontSize;
    top_ = plot.top + text_ + 2 * theme.scale;
  }

  void draw() {
    names();
    if (max_ < 0) return;
    grid();
    ImGui::PushClipRect({canvas_.min().x, top_}, {canvas_.max().x, plot_.bottom}, true);
    marks();
    band();
    for (const bool shown : {false, true}) {  // the line of the shown graph in front
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (plot_.series.lines[i].is_shown == shown) line(i);
      }
    }
    ImGui::PopClipRect();
  }

 private:
  // The axis ends 5 % below the shortest and above the longest time, or, if few are much longer
  // than the others, above the others; see top_of_scale().
  [[nodiscard]] double low_end() const {
    return static_cast<double>(min_) - 0.05 * std::max(static_cast<double>(max_ - min_), 1.0);
  }
  [[nodiscard]] double high_end() const {
    return static_cast<double>(max_) + 0.05 * std::max(static_cast<double>(max_ - min_), 1.0);
  }
  [[nodiscard]] float y_of(double time) const {
    const double part = (time - low_end()) / (high_end() - low_end());
    return plot_.bottom - static_cast<float>(part) * (plot_.bottom - top_);
  }
  [[nodiscard]] float x_of(double index) const { return canvas_.to_screen(index, 0).x; }
  [[nodiscard]] float middle_of(const ReplayBar& bar) const {
    return x_of(static_cast<double>(bar.first + bar.end) / 2);
  }
  [[nodiscard]] ImU32 colour(std::size_t line) const {
    return plot_.series.lines[line].is_shown
               ? theme_.accent
               : distinct_colour(theme_, static_cast<std::uint32_t>(line + 1));
  }

  // The names of the ranks behind squares in their colours, as far as they fit.
  void names() const {
    float x = canvas_.min().x;
    const auto name = [&](const std::string& text, ImU32 square) {
      const float size = square == 0 ? 0 : std::round(text_ * 0.6f),
                  start = square == 0 ? x : x + size + theme_.half_space,
                  end = start + theme_.small->CalcTextSizeA(text_, 1e9f, 0, text.c_str()).x;
      if (end > canvas_.max().x) return;
      const float top = std::round(plot_.top + (text_ - size) / 2);
      if (square != 0) list_.AddRectFilled({x, top}, {x + size, top + size}, square);
      list_.AddText(theme_.small, text_, {start, plot_.top},
                    square == 0 ? theme_.ink : theme_.ink_soft, text.c_str());
      x = end + theme_.space;
    };
    name("device time by rank", 0);
    if (plot_.series.others != 0)
      name(count_text(plot_.series.others) + " others", with_alpha(theme_.ink_soft, 0.3f));
    for (std::size_t i = 0; i < lines_.size(); ++i) name(plot_.series.lines[i].name, colour(i));
  }

  void grid() const {
    const double step = round_step(low_end(), high_end(),
                                   std::max((plot_.bottom - top_) / (22 * theme_.scale), 2.0f), 1);
    for (const double tick : round_ticks(low_end(), high_end(), step)) {
      const float y = std::floor(y_of(tick)) + 0.5f;
      list_.AddLine({canvas_.min().x, y}, {canvas_.max().x, y}, theme_.line);
      const std::string text = tick_text(tick, step, high_end());
      const float width = theme_.small->CalcTextSizeA(text_, 1e9f, 0, text.c_str()).x;
      list_.PushClipRectFullScreen();
      list_.AddText(theme_.small, text_,
                    {canvas_.min().x - theme_.half_space - width, y - text_ / 2}, theme_.ink_soft,
                    text.c_str());
      list_.PopClipRect();
    }
  }

  void marks() const {
    const auto mark = [&](const std::optional<std::size_t>& index, ImU32 colour) {
      if (!index) return;
      const auto at = static_cast<double>(*index);
      list_.AddRectFilled({x_of(at), top_}, {std::max(x_of(at + 1), x_of(at) + 1), plot_.bottom},
                          colour);
    };
    mark(plot_.shown, with_alpha(theme_.accent, 0.25f));
    mark(plot_.hovered, with_alpha(theme_.ink, 0.14f));
  }

  void band() const {
    for (std::size_t i = 0; i < std::min(low_.size(), high_.size()); ++i) {
      if (low_[i].run.known == 0) continue;
      list_.AddRectFilled({x_of(static_cast<double>(low_[i].first)),
                           y_of(static_cast<double>(high_[i].run.max)) - 0.5f},
                          {x_of(static_cast<double>(low_[i].end)),
                           y_of(static_cast<double>(low_[i].run.min)) + 0.5f},
                          with_alpha(theme_.ink_soft, 0.3f));
    }
  }

  // Through the longest time of each bar.
  void line(std::size_t index) const {
    const float width = 1.2f * theme_.scale;
    const ReplayBar* before = nullptr;
    for (const ReplayBar& bar : lines_[index]) {
      if (bar.run.known == 0) {
        before = nullptr;
        continue;
      }
      const ImVec2 at{middle_of(bar), y_of(static_cast<double>(bar.run.max))};
      if (at.y < top_)  // above the scale
        list_.AddTriangleFilled({at.x - 3 * width, top_ + 4 * width},
                                {at.x + 3 * width, top_ + 4 * width}, {at.x, top_}, colour(index));
      if (before == nullptr) {
        list_.AddRectFilled({at.x - width, at.y - width}, {at.x + width, at.y + width},
                            colour(index));
      } else {
        list_.AddLine({middle_of(*before), y_of(static_cast<double>(before->run.max))}, at,
                      colour(index), width);
      }
      before = &bar;
    }
  }

  const Theme& theme_;
  const Canvas& canvas_;
  const RankPlot& plot_;
  ImDrawList& list_;
  std::vector<std::vector<ReplayBar>> lines_;
  std::vector<ReplayBar> low_, high_;
  std::vector<std::int64_t> longest_;  // times of bars
  Time min_ = -1, max_ = -1;  // of the visible bars; -1: none has a time
  float text_ = 0, top_ = 0;  // height of text; y position below the names
};

}  // namespace

void draw_rank_plot(const Theme& theme, const Canvas& canvas, const RankPlot& plot) {
  RankPainter(theme, canvas, plot).draw();
}

void draw_rank_fields(const Theme& theme, const model::Document& document, const RankSeries& series,
                      std::size_t index, float value_x) {
  if (index >= series.max.size() || series.max[index].time < 0) return;
  const auto field = [&](const char* name, const RankSeries::Extreme& extreme) {
    draw_field(theme, name,
               duration_text(static_cast<double>(extreme.time)) + ", " +
                   document.rank_name(extreme.session),
               value_x);
  };
  field("shortest", series.min[index]);
  field("longest", series.max[index]);
}

}  // namespace reprise::viewer

#include "panels/replays/replays_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "panels/replays/replays_colour.hpp"
#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

// The screen layout of the bins. The overflow bin has index `count` and a gap before it.
struct BinLayout {
  ImVec2 min{0, 0}, max{0, 0};  // the area of the bars
  float bin = 1, gap = 0;       // widths
  std::size_t count = 0;        // number of bins without the overflow bin

  [[nodiscard]] float left(std::size_t i) const {
    return min.x + bin * static_cast<float>(i) + (i == count ? gap : 0);
  }
  [[nodiscard]] float right(std::size_t i) const { return i == count ? max.x : left(i) + bin; }
  [[nodiscard]] std::size_t at(float x) const {
    if (x >= min.x + bin * static_cast<float>(count) + gap / 2 && gap > 0) return count;
    return std::min(static_cast<std::size_t>(std::max((x - min.x) / bin, 0.0f)), count - 1);
  }
};

BinLayout bin_layout(const Theme& theme, const DurationBins& histogram, ImVec2 at, ImVec2 size) {
  BinLayout p;
  p.count = histogram.bins.size();
  p.min = {at.x + 52 * theme.scale, at.y + theme.half_space};
  p.max = {std::max(at.x + size.x - theme.space, p.min.x + 20),
           std::max(at.y + size.y - theme.small->FontSize - 6 * theme.scale, p.min.y + 10)};
  const float overflow = histogram.overflow > 0 ? 26 * theme.scale : 0;
  p.gap = histogram.overflow > 0 ? 8 * theme.scale : 0;
  p.bin = std::max((p.max.x - p.min.x - overflow - p.gap) / static_cast<float>(p.count), 0.25f);
  return p;
}

model::DurationBounds durations(const DurationBins& h, std::size_t low, std::size_t high) {
  const auto edge = [&](std::size_t bin) { return h.lowest + h.width * static_cast<double>(bin); };
  // Values are whole nanoseconds, and the upper edge of a bin is exclusive.
  return {h.measure, edge(low),
          high >= h.bins.size() ? std::max(h.max, edge(high)) : edge(high + 1) - 0.5};
}

void draw_axes(const Theme& theme, const DurationBins& h, const BinLayout& p) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImFont* const small = theme.small;
  const float line = small->FontSize;
  const auto width_of = [&](const std::string& text) {
    return small->CalcTextSizeA(line, 1e9f, 0, text.c_str()).x;
  };
  const double top = static_cast<double>(h.max_count);
  for (const double tick : round_ticks(
           0, top,
           round_step(0, top, std::max(2.0f, (p.max.y - p.min.y) / (28 * theme.scale)), 1))) {
    const float y =
        std::floor(p.max.y - static_cast<float>(tick / top) * (p.max.y - p.min.y)) + 0.5f;
    list.AddLine({p.min.x, y}, {p.max.x, y}, theme.line);
    const std::string text = count_text(static_cast<std::uint64_t>(tick));
    list.AddText(small, line, {p.min.x - theme.half_space - width_of(text), y - line / 2},
                 theme.ink_soft, text.c_str());
  }
  const double highest = h.lowest + h.width * static_cast<double>(p.count);
  const float end = p.left(p.count) - p.gap;
  const auto x_of = [&](double time) {
    return p.min.x + static_cast<float>((time - h.lowest) / (highest - h.lowest)) * (end - p.min.x);
  };
  const float y = p.max.y + 3 * theme.scale;
  const std::string overflow = "more";
  const float overflow_left =
      h.overflow > 0 ? (p.left(p.count) + p.max.x) / 2 - width_of(overflow) / 2 : p.max.x;
  const double step = round_step(h.lowest, highest, (end - p.min.x) / (84 * theme.scale));
  for (const double tick : round_ticks(h.lowest, highest, step)) {
    const std::string text = tick_text(tick, step, highest);
    const float x = x_of(tick),
                left = std::clamp(x - width_of(text) / 2, p.min.x, p.max.x - width_of(text));
    list.AddLine({x, p.max.y}, {x, p.max.y + 3 * theme.scale}, theme.ink_faint);
    if (left + width_of(text) < overflow_left - theme.half_space || h.overflow == 0)
      list.AddText(small, line, {left, y}, theme.ink_soft, text.c_str());
  }
  if (h.overflow > 0)
    list.AddText(small, line, {overflow_left, y}, theme.ink_soft, overflow.c_str());
}

}  // namespace

void ReplaysHistogram::draw(const Theme& theme, const DurationBins& histogram, double median,
                            std::optional<model::DurationBounds>& selected, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("durations", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  if (histogram.bins.empty()) return;
  const bool hovered = ImGui::IsItemHovered(), pressed = ImGui::IsItemActivated();
  const BinLayout p = bin_layout(theme, histogram, at, size);
  const float mouse = ImGui::GetIO().MousePos.x;
  const std::size_t bin = p.at(mouse);
  if (pressed) {
    dragging_ = true;
    anchor_ = bin;
  }
  if (dragging_) {
    const bool moved = ImGui::GetIO().MouseDragMaxDistanceSqr[0] > 9;
    if (moved) dragged_ = durations(histogram, std::min(anchor_, bin), std::max(anchor_, bin));
    if (!ImGui::GetIO().MouseDown[0]) {
      dragging_ = false;
      // A click on a bar selects it. A click on an empty or selected bar clears the selection.
      const std::size_t count = bin < p.count ? histogram.bins[bin] : histogram.overflow;
      const model::DurationBounds clicked = durations(histogram, bin, bin);
      if (dragged_) {
        selected = dragged_;
      } else {
        selected = count == 0 || selected == clicked ? std::nullopt : std::optional(clicked);
      }
      dragged_.reset();
    }
  }
  const std::optional<model::DurationBounds>& shown = dragged_ ? dragged_ : selected;

  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_axes(theme, histogram, p);
  for (std::size_t i = 0; i < p.count + (histogram.overflow > 0 ? 1 : 0); ++i) {
    const std::size_t count = i < p.count ? histogram.bins[i] : histogram.overflow;
    const model::DurationBounds range = durations(histogram, i, i);
    const bool is_selected = !shown || (range.min < shown->max && range.max > shown->min);
    const float left = p.left(i), right = std::max(p.right(i) - (p.bin > 4 ? 1 : 0), left + 1);
    if (hovered && i == bin)
      list.AddRectFilled({left, p.min.y}, {right, p.max.y}, with_alpha(theme.ink, 0.12f));
    if (count == 0) continue;
    const float height = std::max(
        static_cast<float>(count) / static_cast<float>(histogram.max_count) * (p.max.y - p.min.y),
        2.0f);
    const double middle = i < p.count ? (range.min + range.max) / 2 : histogram.max;
    const ImU32 colour = ratio_colour(theme, median > 0 ? middle / median : 0);
    list.AddRectFilled({left, p.max.y - height}, {right, p.max.y},
                       with_alpha(colour, is_selected ? 1 : 0.25f));
  }
  list.AddLine({p.min.x, p.max.y}, {p.max.x, p.max.y}, theme.ink_faint);
  if (shown) {
    const auto edge = [&](double time) {
      return p.left(std::min(
          static_cast<std::size_t>(std::max(time - histogram.lowest, 0.0) / histogram.width),
          p.count));
    };
    const float left = std::max(edge(shown->min), p.min.x);
    const bool to_end =
        shown->max >= histogram.lowest + histogram.width * static_cast<double>(p.count);
    const float right =
        to_end ? p.max.x
               : edge(shown->max + 0.5) - (edge(shown->max + 0.5) == p.left(p.count) ? p.gap : 0);
    list.AddRectFilled({left, p.min.y}, {right, p.max.y}, with_alpha(theme.accent, 0.12f));
    list.AddRect({left, p.min.y}, {right, p.max.y}, theme.accent);
  }
  if (hovered && !dragging_) {
    const model::DurationBounds range = durations(histogram, bin, bin);
    const std::size_t count = bin < p.count ? histogram.bins[bin] : histogram.overflow;
    ImGui::SetTooltip("%s replay%s: %s to %s\nDrag: select durations. Click: toggle this bin.",
                      count_text(count).c_str(), count == 1 ? "" : "s",
                      duration_text(range.min).c_str(), duration_text(range.max).c_str());
  }
}

}  // namespace reprise::viewer

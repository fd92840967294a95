#include "panels/nodes/nodes_distribution.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

double Distribution::position(double nanoseconds) const noexcept {
  return highest > lowest ? std::clamp((nanoseconds - lowest) / (highest - lowest), 0.0, 1.0) : 0.5;
}

const detail::DurationHistogram* times_of(const GraphViewModel& view_model, std::uint32_t node) {
  const auto& statistics = view_model.statistics;
  return statistics != nullptr && node < statistics->nodes.size() ? &statistics->nodes[node].times
                                                                  : nullptr;
}

Distribution distribution(const detail::DurationHistogram& times, std::size_t max_bars) {
  Distribution result;
  if (times.count() == 0 || max_bars == 0) return result;
  result.min = static_cast<double>(times.min());
  result.max = static_cast<double>(times.max());
  // The first and the last bar absorb long tails.
  const double median = times.quantile(0.5);
  result.highest = std::min(
      result.max, std::max(times.quantile(0.99), median + 3 * (times.quantile(0.9) - median)));
  result.lowest = std::max(
      result.min, std::min(times.quantile(0.01), median - 3 * (median - times.quantile(0.1))));
  // A bar is at least as wide as a bucket of the histogram: narrower bars would show counts at
  // durations without a sample.
  double widest = 1;
  for (const detail::DurationHistogram::Bucket& b : times.buckets()) {
    if (static_cast<double>(b.lowest) <= result.highest)
      widest = std::max(widest, static_cast<double>(b.width));
  }
  const double range = result.highest - result.lowest;
  const auto bars = std::clamp<std::size_t>(static_cast<std::size_t>(range / widest), 1, max_bars);
  result.bars.assign(bars, 0);
  const double width = range / static_cast<double>(bars);
  for (const detail::DurationHistogram::Bucket& b : times.buckets()) {
    const double from = std::max(static_cast<double>(b.lowest), result.min),
                 to = std::min(static_cast<double>(b.lowest + b.width), result.max);
    const double part = width > 0 ? ((from + to) / 2 - result.lowest) / width : 0;
    const double last = static_cast<double>(bars - 1);
    result.bars[static_cast<std::size_t>(std::clamp(part, 0.0, last))] += b.count;
  }
  result.max_count = *std::max_element(result.bars.begin(), result.bars.end());
  return result;
}

void draw_bars(const Distribution& d, ImVec2 min, ImVec2 max, ImU32 colour) {
  if (d.bars.empty() || d.max_count <= 0) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float width = (max.x - min.x) / static_cast<float>(d.bars.size());
  const float gap = width >= 4 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < d.bars.size(); ++i) {
    if (d.bars[i] <= 0) continue;
    // At least one point high, so that small counts stay visible.
    const float height =
        std::max(1.0f, (max.y - min.y) * static_cast<float>(d.bars[i] / d.max_count));
    const float x = min.x + width * static_cast<float>(i);
    draw->AddRectFilled({x, max.y - height}, {x + width - gap, max.y}, colour);
  }
}

namespace {

void draw_mark(ImVec2 min, ImVec2 max, double position, ImU32 colour, float thickness) {
  const float x = std::round(min.x + (max.x - min.x) * static_cast<float>(position)) + 0.5f;
  ImGui::GetWindowDrawList()->AddLine({x, min.y}, {x, max.y}, colour, thickness);
}

// A text below the axis, centred at `x` as far as [left, right] permits.
void draw_axis_text(float x, float left, float right, float y, ImU32 colour,
                    const std::string& text) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  ImGui::GetWindowDrawList()->AddText(
      {std::clamp(x - width / 2, left, std::max(left, right - width)), y}, colour, text.c_str());
}

}  // namespace

void draw_distribution(const Theme& theme, const Distribution& d, double median,
                       const std::optional<DurationMark>& mark, float height) {
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const float width = std::max(40.0f, ImGui::GetContentRegionAvail().x);
  const ImVec2 max{min.x + width, min.y + height};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(min, max, theme.background, theme.radius);
  const ImVec2 from{min.x + theme.half_space, min.y + theme.half_space},
      to{max.x - theme.half_space, max.y};
  draw_bars(d, from, to, with_alpha(theme.accent, 0.75f));
  draw->AddLine({min.x, max.y}, max, theme.line);
  draw_mark(from, to, d.position(median), theme.ink_soft, 1.0f);
  if (mark) draw_mark(from, to, d.position(mark->nanoseconds), theme.ink, 2.0f * theme.scale);

  ImGui::Dummy({width, height});
  if (ImGui::IsItemHovered() && !d.bars.empty() && d.highest > d.lowest) {
    const double part = std::clamp(
        (ImGui::GetIO().MousePos.x - from.x) / std::max(1.0f, to.x - from.x), 0.0f, 0.999f);
    const std::size_t bar = static_cast<std::size_t>(part * static_cast<double>(d.bars.size()));
    const double step = (d.highest - d.lowest) / static_cast<double>(d.bars.size()),
                 lowest = d.lowest + step * static_cast<double>(bar);
    const bool is_head = bar == 0 && d.has_head(),
               is_tail = bar + 1 == d.bars.size() && d.has_tail();
    ImGui::SetTooltip("%s to %s: %s", duration_text(is_head ? d.min : lowest).c_str(),
                      duration_text(is_tail ? d.max : lowest + step).c_str(),
                      count_text(static_cast<std::uint64_t>(std::llround(d.bars[bar]))).c_str());
  }
  ImGui::PushFont(theme.small);
  const float axis = max.y + theme.half_space / 2, line = ImGui::GetTextLineHeight();
  draw_axis_text(min.x, min.x, max.x, axis, theme.ink_soft,
                 d.has_head() ? "min " + duration_text(d.min) : duration_text(d.lowest));
  draw_axis_text(max.x, min.x, max.x, axis, theme.ink_soft,
                 d.has_tail() ? "max " + duration_text(d.max) : duration_text(d.highest));
  ImGui::Dummy({width, line});
  // Legend: a sample of each line, followed by its name.
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto sample = [&](float x, ImU32 colour, float thickness) {
    draw->AddLine({x, at.y + 1}, {x, at.y + line - 1}, colour, thickness);
  };
  sample(at.x + 2, theme.ink_soft, 1.0f);
  float x = at.x + theme.space;
  const std::string median_name = "median " + duration_text(median);
  draw->AddText({x, at.y}, theme.ink_soft, median_name.c_str());
  x += ImGui::CalcTextSize(median_name.c_str()).x + 2 * theme.space;
  if (mark) {
    sample(x + 2, theme.ink, 2.0f * theme.scale);
    const std::string name = mark->name + " " + duration_text(mark->nanoseconds);
    draw->AddText({x + theme.space, at.y}, theme.ink, name.c_str());
  }
  ImGui::Dummy({width, line});
  ImGui::PopFont();
}

}  // namespace reprise::viewer

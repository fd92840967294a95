#include "panels/timeline/timeline_ruler.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

constexpr float kMinDrag = 5;        // screen points; shorter drags are clicks
constexpr float kMinDimmed = 0.25f;  // of the canvas: narrower replays do not dim what is around

double step_of(const TimelineRulerDesc& desc) {
  const CanvasBounds visible = desc.canvas.visible_area();
  const double width = desc.canvas.max().x - desc.canvas.min().x;
  return round_step(visible.left, visible.right, width / (96 * desc.theme.scale), 1);
}

}  // namespace

std::optional<std::pair<double, double>> TimelineRuler::update(const Canvas& canvas) {
  const ImGuiIO& io = ImGui::GetIO();
  at_ = canvas.x_of(io.MousePos.x);
  if (canvas.is_hovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    is_pressed_ = true;
    pressed_ = at_;
  }
  is_dragging_ =
      is_pressed_ && (is_dragging_ || ImGui::IsMouseDragging(ImGuiMouseButton_Left, kMinDrag));
  if (io.MouseDown[0]) return std::nullopt;
  is_pressed_ = false;
  if (!is_dragging_) return std::nullopt;
  return std::pair(std::min(pressed_, at_), std::max(pressed_, at_));
}

void TimelineRuler::draw_lines(const TimelineRulerDesc& desc) const {
  const Theme& theme = desc.theme;
  const Canvas& canvas = desc.canvas;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const CanvasBounds visible = canvas.visible_area();
  const float top = canvas.min().y, bottom = canvas.max().y;
  if (desc.replay) {
    const auto x_of = [&](double at) {
      return std::clamp(canvas.to_screen(at, 0).x, canvas.min().x, canvas.max().x);
    };
    const float from = x_of(desc.replay->first), to = x_of(desc.replay->second);
    const ImU32 dim = with_alpha(theme.background, 0.55f);
    if (to - from > kMinDimmed * (canvas.max().x - canvas.min().x)) {
      list.AddRectFilled({canvas.min().x, top}, {from, bottom}, dim);
      list.AddRectFilled({to, top}, {canvas.max().x, bottom}, dim);
    }
  }
  for (const double tick :
       round_ticks(visible.left - desc.zero, visible.right - desc.zero, step_of(desc))) {
    const float x = std::floor(canvas.to_screen(tick + desc.zero, 0).x) + 0.5f;
    list.AddLine({x, top}, {x, bottom}, with_alpha(theme.line, tick == 0 ? 1 : 0.7f));
  }
}

void TimelineRuler::draw(const TimelineRulerDesc& desc) const {
  const Theme& theme = desc.theme;
  const Canvas& canvas = desc.canvas;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImFont* const font = theme.small;
  const float size = font->FontSize, top = canvas.min().y, bottom = top + desc.height;
  const CanvasBounds visible = canvas.visible_area();
  const double step = step_of(desc), left_time = visible.left - desc.zero,
               right_time = visible.right - desc.zero,
               largest = std::max(std::abs(left_time), std::abs(right_time));
  const auto width_of = [&](const std::string& text) {
    return font->CalcTextSizeA(size, 1e9f, 0, text.c_str()).x;
  };
  list.AddRectFilled({canvas.min().x, top}, {canvas.max().x, bottom}, theme.raised);
  list.AddLine({canvas.min().x, bottom}, {canvas.max().x, bottom}, theme.line);
  for (const double tick : round_ticks(left_time, right_time, step)) {
    const float x = std::floor(canvas.to_screen(tick + desc.zero, 0).x) + 0.5f;
    list.AddLine({x, bottom - 4 * theme.scale}, {x, bottom}, theme.ink_soft);
    const std::string text = tick_text(tick, step, largest);
    list.AddText(font, size, {x + 3 * theme.scale, top + (desc.height - size) / 2 - 1},
                 tick == 0 ? theme.ink : theme.ink_soft, text.c_str());
  }
  if (desc.replay) {
    for (const double at : {desc.replay->first, desc.replay->second}) {
      const float x = std::floor(canvas.to_screen(at, 0).x) + 0.5f;
      list.AddLine({x, bottom}, {x, canvas.max().y}, with_alpha(theme.accent, 0.55f));
      list.AddTriangleFilled({x - 4 * theme.scale, bottom - 5 * theme.scale},
                             {x + 4 * theme.scale, bottom - 5 * theme.scale}, {x, bottom},
                             theme.accent);
    }
  }
  if (!is_dragging_ && !desc.selected) return;
  const auto [started, ended] =
      is_dragging_ ? std::pair(std::min(pressed_, at_), std::max(pressed_, at_)) : *desc.selected;
  if (ended < visible.left || started > visible.right) return;
  const float left = canvas.to_screen(started, 0).x, right = canvas.to_screen(ended, 0).x;
  list.AddRectFilled({left, top}, {right, canvas.max().y}, with_alpha(theme.accent, 0.14f));
  for (const float x : {left, right})
    list.AddLine({x, top}, {x, canvas.max().y}, theme.accent, 1.5f * theme.scale);
  const std::string text = duration_text(ended - started) + "  (" +
                           tick_text(started - desc.zero, step / 100, largest) + " to " +
                           tick_text(ended - desc.zero, step / 100, largest) + ")";
  const float width = width_of(text),
              at = std::clamp((left + right - width) / 2, canvas.min().x + 4,
                              std::max(canvas.min().x + 4, canvas.max().x - width - 4));
  const float pad = 4 * theme.scale;
  list.AddRectFilled({at - pad, top + 1}, {at + width + pad, bottom - 1}, theme.accent,
                     theme.radius);
  list.AddText(font, size, {at, std::floor(top + (desc.height - size) / 2)}, theme.on_accent,
               text.c_str());
}

}  // namespace reprise::viewer

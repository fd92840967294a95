#include "panels/timeline/timeline_ruler.hpp"

#include <algorithm>
#include <cmath>

#include "panels/shared/keys.hpp"
#include "panels/timeline/timeline_axis.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

double step_of(const TimelineRulerDesc& desc) {
  const CanvasBounds visible = desc.canvas.visible_area();
  const double width = desc.canvas.max().x - desc.canvas.min().x;
  return round_step(visible.left, visible.right, width / (96 * desc.theme.scale), 1);
}

}  // namespace

void TimelineRuler::update(const Canvas& canvas) {
  const ImGuiIO& io = ImGui::GetIO();
  if (canvas.is_hovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    measuring_ = io.KeyShift;
    if (measuring_) span_ = {canvas.x_of(io.MousePos.x), canvas.x_of(io.MousePos.x)};
  }
  if (measuring_) {
    span_->second = canvas.x_of(io.MousePos.x);
    if (!io.MouseDown[0]) {
      measuring_ = false;
      if (std::abs(span_->second - span_->first) * canvas.zoom_x() < 3) span_.reset();
    }
  } else if (span_ && is_pressed(Key::Escape)) {
    span_.reset();
  }
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
    const ImU32 dim = with_alpha(theme.background, 0.55f);
    list.AddRectFilled({canvas.min().x, top}, {x_of(desc.replay->first), bottom}, dim);
    list.AddRectFilled({x_of(desc.replay->second), top}, {canvas.max().x, bottom}, dim);
  }
  for (const double tick : round_ticks(visible.left, visible.right, step_of(desc))) {
    const float x = std::floor(canvas.to_screen(tick, 0).x) + 0.5f;
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
  const double step = step_of(desc),
               largest = std::max(std::abs(visible.left), std::abs(visible.right));
  const auto width_of = [&](const std::string& text) {
    return font->CalcTextSizeA(size, 1e9f, 0, text.c_str()).x;
  };
  list.AddRectFilled({canvas.min().x, top}, {canvas.max().x, bottom}, theme.raised);
  list.AddLine({canvas.min().x, bottom}, {canvas.max().x, bottom}, theme.line);
  for (const double tick : round_ticks(visible.left, visible.right, step)) {
    const float x = std::floor(canvas.to_screen(tick, 0).x) + 0.5f;
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
  if (!span_) return;
  const double started = std::min(span_->first, span_->second),
               ended = std::max(span_->first, span_->second);
  const float left = canvas.to_screen(started, 0).x, right = canvas.to_screen(ended, 0).x,
              middle = top + desc.height + size;
  list.AddRectFilled({left, top}, {right, canvas.max().y}, with_alpha(theme.accent, 0.14f));
  for (const float x : {left, right})
    list.AddLine({x, top}, {x, canvas.max().y}, theme.accent, 1.5f * theme.scale);
  list.AddLine({left, middle}, {right, middle}, theme.accent, 1.5f * theme.scale);
  const std::string text = duration_text(ended - started) + "  (" +
                           tick_text(started, step / 100, largest) + " to " +
                           tick_text(ended, step / 100, largest) + ")";
  const float width = width_of(text),
              at = std::clamp((left + right - width) / 2, canvas.min().x + 4,
                              std::max(canvas.min().x + 4, canvas.max().x - width - 4));
  const float pad = 4 * theme.scale;
  list.AddRectFilled({at - pad, middle + 2}, {at + width + pad, middle + size + 2 * pad},
                     theme.accent, theme.radius);
  list.AddText(font, size, {at, middle + 2 + pad / 2}, theme.on_accent, text.c_str());
}

}  // namespace reprise::viewer

#include "panels/replays/replays_drag.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

namespace {

constexpr float kHandleRadius = 6;  // points
constexpr float kDragSlop = 5;      // maximum mouse movement of a click, in points; as in Canvas

}  // namespace

void ReplaysDrag::update(const Canvas& canvas, std::size_t size, ViewState& view) {
  const ImGuiIO& io = ImGui::GetIO();
  const double count = static_cast<double>(size);
  const double first = static_cast<double>(std::min(view.range.first, size));
  const double end = first + static_cast<double>(std::min(view.range.count,
                                                          size - std::min(view.range.first, size)));
  const auto is_near = [&](double index) {
    return std::abs(canvas.to_screen(index, 0).x - io.MousePos.x) <= kHandleRadius;
  };
  const bool has_ends = !view.range.covers_all_indices();
  const bool at_first = has_ends && is_near(first), at_end = has_ends && is_near(end);
  if (canvas.is_hovered() && !active_ && (at_first || at_end))
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (canvas.is_hovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !io.KeyShift) {
    active_ = true;
    moved_ = false;
    anchor_ = at_first ? end : at_end ? first : canvas.x_of(io.MousePos.x);
  }
  if (!active_) return;
  moved_ = moved_ || io.MouseDragMaxDistanceSqr[0] >= kDragSlop * kDragSlop;
  if (moved_ && size > 0) {
    const double at = canvas.x_of(io.MousePos.x);
    const double low = std::clamp(std::floor(std::min(anchor_, at)), 0.0, count - 1),
                 high = std::clamp(std::ceil(std::max(anchor_, at)), low + 1, count);
    view.range.first = static_cast<std::size_t>(low);
    view.range.count = static_cast<std::size_t>(high - low);
  }
  if (!io.MouseDown[0]) active_ = false;
}

}  // namespace reprise::viewer

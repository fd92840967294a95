#include "panels/widgets/canvas.hpp"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "panels/shared/keys.hpp"

namespace reprise::viewer {

namespace {

constexpr double kWheelStep = 1.18;  // zoom factor per wheel notch
constexpr double kKeyZoom = 4;       // zoom factor per second
constexpr double kKeyPan = 0.9;      // visible extents per second
constexpr float kClickSlop = 5;      // maximum mouse movement of a click, in points
constexpr double kMaxZoom = 1e10;    // relative to the zoom that shows everything, with one axis

double extent(double low, double high) { return std::max(high - low, 1e-9); }

}  // namespace

bool Canvas::begin(const char* id, const CanvasBounds& bounds, const Theme& theme, ImVec2 size) {
  const ImVec2 available = ImGui::GetContentRegionAvail();
  if (!(size.x > 0)) size.x = available.x;
  if (!(size.y > 0)) size.y = available.y;
  size = {std::max(1.0f, std::floor(size.x)), std::max(1.0f, std::floor(size.y))};
  const CanvasBounds before = visible_area();
  const ImVec2 min_before = min_, max_before = max_;

  min_ = ImGui::GetCursorScreenPos();
  max_ = {min_.x + size.x, min_.y + size.y};
  ImGui::PushID(id);
  ImGui::InvisibleButton("canvas", size,
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemAllowOverlap();
  hovered_ = ImGui::IsItemHovered();
  const bool active = ImGui::IsItemActive();
  if (hovered_ || active) ImGui::SetItemUsingMouseWheel();
  ImGui::PopID();

  apply_requests(bounds, size, theme);
  take_input(bounds, size, active);
  limit(bounds, size);

  const ImGuiIO& io = ImGui::GetIO();
  clicked_ = hovered_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && pressed_here_ &&
             io.MouseDragMaxDistanceSqr[0] < kClickSlop * kClickSlop;
  double_clicked_ = hovered_ && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) pressed_here_ = hovered_;
  if (!io.MouseDown[0]) pressed_here_ = false;

  ImGui::PushClipRect(min_, max_, true);
  zoom_fill_ = with_alpha(theme.accent, 0.18f);
  zoom_line_ = theme.accent;

  const CanvasBounds now = visible_area();
  return before.left != now.left || before.top != now.top || before.right != now.right ||
         before.bottom != now.bottom || min_before.x != min_.x || min_before.y != min_.y ||
         max_before.x != max_.x || max_before.y != max_.y;
}

void Canvas::end() {
  if (is_zooming_) {  // on top of the panel's drawing
    ImDrawList* const draw = ImGui::GetWindowDrawList();
    const ImVec2 to = ImGui::GetIO().MousePos;
    const ImVec2 low{std::min(zoom_start_.x, to.x),
                     axes_ == CanvasAxes::Both ? std::min(zoom_start_.y, to.y) : min_.y};
    const ImVec2 high{std::max(zoom_start_.x, to.x),
                      axes_ == CanvasAxes::Both ? std::max(zoom_start_.y, to.y) : max_.y};
    draw->AddRectFilled(low, high, zoom_fill_);
    draw->AddRect(low, high, zoom_line_);
  }
  ImGui::PopClipRect();
}

// Applies the requests since the last frame (fit, show, centre). While fit_ holds, fits the bounds
// in every frame.
void Canvas::apply_requests(const CanvasBounds& bounds, ImVec2 size, const Theme& theme) {
  const CanvasBounds all = bounds;
  if (fit_) part_ = all;
  if (fit_ || has_part_) {
    const double wide = extent(part_.left, part_.right), high = extent(part_.top, part_.bottom);
    zoom_x_ = size.x / (wide * (1 + 2 * kMargin));
    zoom_y_ =
        moves_down() ? size.y / (high * (1 + 2 * kMargin)) : size.y / extent(all.top, all.bottom);
    if (axes_ == CanvasAxes::Both)
      zoom_x_ = zoom_y_ = std::min({zoom_x_, zoom_y_, 1.5 * static_cast<double>(theme.scale)});
    left_ = (part_.left + part_.right) / 2 - size.x / zoom_x_ / 2;
    top_ = moves_down() ? (part_.top + part_.bottom) / 2 - size.y / zoom_y_ / 2 : all.top;
    has_part_ = false;
  }
  if (axes_ == CanvasAxes::Horizontal) {
    zoom_y_ = size.y / extent(all.top, all.bottom);
    top_ = all.top;
  }
  if (has_centre_) {
    left_ = centre_x_ - size.x / zoom_x_ / 2;
    if (moves_down()) top_ = centre_y_ - size.y / zoom_y_ / 2;
    has_centre_ = false;
    fit_ = false;
  }
}

void Canvas::zoom_at(ImVec2 at, double factor) {
  const double x = x_of(at.x), y = y_of(at.y);
  zoom_x_ *= factor;
  if (axes_ == CanvasAxes::Both) zoom_y_ *= factor;
  left_ = x - (at.x - min_.x) / zoom_x_;
  if (axes_ == CanvasAxes::Both) top_ = y - (at.y - min_.y) / zoom_y_;
  fit_ = false;
}

void Canvas::take_input(const CanvasBounds& bounds, ImVec2 size, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool both = moves_down();
  if (hovered_ && io.MouseWheel != 0)
    zoom_about(bounds, size, io.MousePos, std::pow(kWheelStep, io.MouseWheel));
  if (hovered_ && io.MouseWheelH != 0) {
    left_ -= io.MouseWheelH * 40 / zoom_x_;
    fit_ = false;
  }
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Right, 1)) {
    left_ -= io.MouseDelta.x / zoom_x_;
    if (both) top_ -= io.MouseDelta.y / zoom_y_;
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0) fit_ = false;
  }
  if (hovered_ && ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
    is_zooming_ = true;
    zoom_start_ = io.MousePos;
  }
  if (is_zooming_ && !io.MouseDown[ImGuiMouseButton_Middle]) {
    is_zooming_ = false;
    const ImVec2 to = io.MousePos;
    if (std::abs(to.x - zoom_start_.x) > kClickSlop &&
        (!both || std::abs(to.y - zoom_start_.y) > kClickSlop)) {
      const double x0 = x_of(std::min(to.x, zoom_start_.x)),
                   x1 = x_of(std::max(to.x, zoom_start_.x));
      const double y0 = y_of(std::min(to.y, zoom_start_.y)),
                   y1 = y_of(std::max(to.y, zoom_start_.y));
      fit_ = false;
      zoom_x_ = size.x / extent(x0, x1);
      if (both) zoom_y_ = size.y / extent(y0, y1);
      if (axes_ == CanvasAxes::Both) zoom_x_ = zoom_y_ = std::min(zoom_x_, zoom_y_);
      left_ = (x0 + x1) / 2 - size.x / zoom_x_ / 2;
      if (both) top_ = (y0 + y1) / 2 - size.y / zoom_y_ / 2;
    }
  }
  if (!hovered_) return;
  if (is_pressed(Key::Home)) fit_ = true;
  const double time = std::min(io.DeltaTime, 0.1f);
  const double right = (is_down(Key::D) ? 1 : 0) - (is_down(Key::A) ? 1 : 0);
  const double down = (is_down(Key::S) ? 1 : 0) - (is_down(Key::W) ? 1 : 0);
  if (right != 0) {
    left_ += right * kKeyPan * time * size.x / zoom_x_;
    fit_ = false;
  }
  if (down == 0) return;
  if (both && !is_down(Key::Shift)) {
    top_ += down * kKeyPan * time * size.y / zoom_y_;
    fit_ = false;
  } else {
    zoom_about(bounds, size, io.MousePos, std::pow(kKeyZoom, -down * time));
  }
}

// Limits zooming out so that the bounds fill at least about half of the canvas.
void Canvas::zoom_about(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor) {
  if (axes_ == CanvasAxes::Each) return zoom_each(bounds, size, at, factor);
  const double all = axes_ == CanvasAxes::Both
                         ? std::min(size.x / extent(bounds.left, bounds.right),
                                    size.y / extent(bounds.top, bounds.bottom))
                         : size.x / extent(bounds.left, bounds.right);
  const double min_zoom = axes_ == CanvasAxes::Both ? std::min(all / 2, 1.0) : all / 1.5;
  const double max_zoom = axes_ == CanvasAxes::Both ? std::max(all * 32, 8.0) : all * kMaxZoom;
  const double zoom =
      std::clamp(zoom_x_ * factor, std::min(min_zoom, zoom_x_), std::max(max_zoom, zoom_x_));
  if (zoom != zoom_x_) zoom_at(at, zoom / zoom_x_);
}

// Zooms each axis within its own limits.
void Canvas::zoom_each(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor) {
  const ImGuiIO& io = ImGui::GetIO();
  const double x = x_of(at.x), y = y_of(at.y);
  const auto limited = [&](double zoom, double all) {
    return std::clamp(zoom * factor, std::min(all / 1.5, zoom), std::max(all * kMaxZoom, zoom));
  };
  if (!io.KeyAlt) zoom_x_ = limited(zoom_x_, size.x / extent(bounds.left, bounds.right));
  if (!io.KeyCtrl) zoom_y_ = limited(zoom_y_, size.y / extent(bounds.top, bounds.bottom));
  left_ = x - (at.x - min_.x) / zoom_x_;
  top_ = y - (at.y - min_.y) / zoom_y_;
  fit_ = false;
}

// Keeps the centre of the canvas within the bounds.
void Canvas::limit(const CanvasBounds& bounds, ImVec2 size) {
  const double half_x = size.x / zoom_x_ / 2;
  left_ = std::clamp(left_ + half_x, bounds.left, std::max(bounds.left, bounds.right)) - half_x;
  if (axes_ == CanvasAxes::Horizontal) return;
  const double half_y = size.y / zoom_y_ / 2;
  top_ = std::clamp(top_ + half_y, bounds.top, std::max(bounds.top, bounds.bottom)) - half_y;
}

void Canvas::fit() {
  fit_ = true;
  has_part_ = has_centre_ = false;
}

void Canvas::show(const CanvasBounds& part) {
  part_ = part;
  has_part_ = true;
  fit_ = has_centre_ = false;
}

void Canvas::centre(double x, double y) {
  centre_x_ = x;
  centre_y_ = y;
  has_centre_ = true;
}

void Canvas::follow_right(double right) { left_ = right - (max_.x - min_.x) / zoom_x_; }

ImVec2 Canvas::to_screen(double x, double y) const {
  return {static_cast<float>(min_.x + (x - left_) * zoom_x_),
          static_cast<float>(min_.y + (y - top_) * zoom_y_)};
}

double Canvas::x_of(float screen_x) const {
  return left_ + (static_cast<double>(screen_x) - min_.x) / zoom_x_;
}
double Canvas::y_of(float screen_y) const {
  return top_ + (static_cast<double>(screen_y) - min_.y) / zoom_y_;
}

CanvasBounds Canvas::visible_area() const { return {left_, top_, x_of(max_.x), y_of(max_.y)}; }

}  // namespace reprise::viewer

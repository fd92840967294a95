#include "panels/widgets/canvas.hpp"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "panels/shared/keys.hpp"

namespace reprise::viewer {

namespace {

constexpr double kAround = 0.04;               // of a part that is shown, left free on each side
constexpr double kWheelStep = 1.18;            // a notch of the wheel
constexpr double kKeyZoom = 4, kKeyPan = 0.9;  // a second: a factor; of what is in sight
constexpr float kClickSlop = 5;                // points that the mouse may move in a click
constexpr double kMostZoom = 1e7;              // of what shows everything, with one axis

double extent(double low, double high) { return std::max(high - low, 1e-9); }

}  // namespace

bool Canvas::begin(const char* id, const CanvasBounds& bounds, const Theme& theme, ImVec2 size) {
  const ImVec2 available = ImGui::GetContentRegionAvail();
  if (!(size.x > 0)) size.x = available.x;
  if (!(size.y > 0)) size.y = available.y;
  size = {std::max(1.0f, std::floor(size.x)), std::max(1.0f, std::floor(size.y))};
  const CanvasBounds before = in_sight();
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

  place(bounds, size, theme);
  take_input(bounds, size, active);
  limit(bounds, size);

  const ImGuiIO& io = ImGui::GetIO();
  clicked_ = hovered_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && pressed_here_ &&
             io.MouseDragMaxDistanceSqr[0] < kClickSlop * kClickSlop;
  double_clicked_ = hovered_ && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) pressed_here_ = hovered_;
  if (!io.MouseDown[0]) pressed_here_ = false;

  ImGui::PushClipRect(min_, max_, true);
  frame_fill_ = with_alpha(theme.accent, 0.18f);
  frame_line_ = theme.accent;

  const CanvasBounds now = in_sight();
  return before.left != now.left || before.top != now.top || before.right != now.right ||
         before.bottom != now.bottom || min_before.x != min_.x || min_before.y != min_.y ||
         max_before.x != max_.x || max_before.y != max_.y;
}

void Canvas::end() {
  if (framing_) {  // above what was drawn
    ImDrawList* const draw = ImGui::GetWindowDrawList();
    const ImVec2 to = ImGui::GetIO().MousePos;
    const ImVec2 low{std::min(frame_start_.x, to.x),
                     axes_ == CanvasAxes::Both ? std::min(frame_start_.y, to.y) : min_.y};
    const ImVec2 high{std::max(frame_start_.x, to.x),
                      axes_ == CanvasAxes::Both ? std::max(frame_start_.y, to.y) : max_.y};
    draw->AddRectFilled(low, high, frame_fill_);
    draw->AddRect(low, high, frame_line_);
  }
  ImGui::PopClipRect();
}

// What was asked for since the last frame, and what shows everything as long as nobody has moved
// it.
void Canvas::place(const CanvasBounds& bounds, ImVec2 size, const Theme& theme) {
  const CanvasBounds all = bounds;
  if (fit_) part_ = all;
  if (fit_ || has_part_) {
    const double wide = extent(part_.left, part_.right), high = extent(part_.top, part_.bottom),
                 free = fit_ ? free_ : 0;
    zoom_x_ = (size.x - free) / (wide * (1 + 2 * kAround));
    zoom_y_ =
        moves_down() ? size.y / (high * (1 + 2 * kAround)) : size.y / extent(all.top, all.bottom);
    if (axes_ == CanvasAxes::Both)
      zoom_x_ = zoom_y_ = std::min({zoom_x_, zoom_y_, 1.5 * static_cast<double>(theme.scale)});
    left_ = (part_.left + part_.right) / 2 - (free + size.x) / zoom_x_ / 2;
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
    framing_ = true;
    frame_start_ = io.MousePos;
  }
  if (framing_ && !io.MouseDown[ImGuiMouseButton_Middle]) {
    framing_ = false;
    const ImVec2 to = io.MousePos;
    if (std::abs(to.x - frame_start_.x) > kClickSlop &&
        (!both || std::abs(to.y - frame_start_.y) > kClickSlop)) {
      const double x0 = x_of(std::min(to.x, frame_start_.x)),
                   x1 = x_of(std::max(to.x, frame_start_.x));
      const double y0 = y_of(std::min(to.y, frame_start_.y)),
                   y1 = y_of(std::max(to.y, frame_start_.y));
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
  const double right = (is_down(Key::D) ? 1 : 0) - (is_down(Key::A) ? 1 : 0),
               down = (is_down(Key::S) ? 1 : 0) - (is_down(Key::W) ? 1 : 0);
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

// Not farther out than to see everything in half the canvas.
void Canvas::zoom_about(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor) {
  if (axes_ == CanvasAxes::Each) return zoom_each(bounds, size, at, factor);
  const double all = axes_ == CanvasAxes::Both
                         ? std::min(size.x / extent(bounds.left, bounds.right),
                                    size.y / extent(bounds.top, bounds.bottom))
                         : size.x / extent(bounds.left, bounds.right);
  const double least = axes_ == CanvasAxes::Both ? std::min(all / 2, 1.0) : all / 1.5;
  const double most = axes_ == CanvasAxes::Both ? std::max(all * 32, 8.0) : all * kMostZoom;
  const double wanted =
      std::clamp(zoom_x_ * factor, std::min(least, zoom_x_), std::max(most, zoom_x_));
  if (wanted != zoom_x_) zoom_at(at, wanted / zoom_x_);
}

// Each axis as far as it alone may go.
void Canvas::zoom_each(const CanvasBounds& bounds, ImVec2 size, ImVec2 at, double factor) {
  const ImGuiIO& io = ImGui::GetIO();
  const double x = x_of(at.x), y = y_of(at.y);
  const auto limited = [&](double zoom, double all) {
    return std::clamp(zoom * factor, std::min(all / 1.5, zoom), std::max(all * kMostZoom, zoom));
  };
  if (!io.KeyAlt) zoom_x_ = limited(zoom_x_, size.x / extent(bounds.left, bounds.right));
  if (!io.KeyCtrl) zoom_y_ = limited(zoom_y_, size.y / extent(bounds.top, bounds.bottom));
  left_ = x - (at.x - min_.x) / zoom_x_;
  top_ = y - (at.y - min_.y) / zoom_y_;
  fit_ = false;
}

// What is in the middle is on the plane.
void Canvas::limit(const CanvasBounds& bounds, ImVec2 size) {
  const double half_x = size.x / zoom_x_ / 2;
  left_ = std::clamp(left_ + half_x, bounds.left, std::max(bounds.left, bounds.right)) - half_x;
  if (axes_ == CanvasAxes::Horizontal) return;
  const double half_y = size.y / zoom_y_ / 2;
  top_ = std::clamp(top_ + half_y, bounds.top, std::max(bounds.top, bounds.bottom)) - half_y;
}

void Canvas::keep_free(float points) { free_ = points; }

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

CanvasBounds Canvas::in_sight() const { return {left_, top_, x_of(max_.x), y_of(max_.y)}; }

}  // namespace reprise::viewer

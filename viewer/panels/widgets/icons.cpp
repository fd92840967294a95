#include "panels/widgets/icons.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

void draw_icon(ImDrawList& draw, Icon icon, ImVec2 c, float size, ImU32 colour) {
  const float r = size / 2, thick = std::max(1.0f, size / 9);
  const auto line = [&](float x0, float y0, float x1, float y1) {
    draw.AddLine({c.x + x0 * r, c.y + y0 * r}, {c.x + x1 * r, c.y + y1 * r}, colour, thick);
  };
  switch (icon) {
    case Icon::Back:
    case Icon::Previous:
      line(0.35f, -0.7f, -0.35f, 0);
      line(-0.35f, 0, 0.35f, 0.7f);
      return;
    case Icon::Next:
      line(-0.35f, -0.7f, 0.35f, 0);
      line(0.35f, 0, -0.35f, 0.7f);
      return;
    case Icon::Pause:
      draw.AddRectFilled({c.x - r * 0.6f, c.y - r * 0.7f}, {c.x - r * 0.15f, c.y + r * 0.7f},
                         colour, 1);
      draw.AddRectFilled({c.x + r * 0.15f, c.y - r * 0.7f}, {c.x + r * 0.6f, c.y + r * 0.7f},
                         colour, 1);
      return;
    case Icon::Play:
      draw.AddTriangleFilled({c.x - r * 0.5f, c.y - r * 0.75f}, {c.x + r * 0.75f, c.y},
                             {c.x - r * 0.5f, c.y + r * 0.75f}, colour);
      return;
    case Icon::Follow:
      line(-0.9f, 0, 0.45f, 0);
      line(0.0f, -0.45f, 0.45f, 0);
      line(0.45f, 0, 0.0f, 0.45f);
      line(0.85f, -0.75f, 0.85f, 0.75f);
      return;
    case Icon::Sun:
      draw.AddCircle(c, r * 0.42f, colour, 0, thick);
      for (int i = 0; i < 8; ++i) {
        const float angle = std::numbers::pi_v<float> / 4 * static_cast<float>(i);
        line(std::cos(angle) * 0.68f, std::sin(angle) * 0.68f, std::cos(angle) * 0.95f,
             std::sin(angle) * 0.95f);
      }
      return;
    case Icon::Moon:
      draw.PathArcTo(c, r * 0.75f, 0.5f, 4.9f, 20);
      draw.PathArcTo({c.x + r * 0.42f, c.y - r * 0.2f}, r * 0.55f, 4.4f, 1.0f, 16);
      draw.PathStroke(colour, ImDrawFlags_Closed, thick);
      return;
    case Icon::Search:
      draw.AddCircle({c.x - r * 0.15f, c.y - r * 0.15f}, r * 0.55f, colour, 0, thick);
      line(0.28f, 0.28f, 0.85f, 0.85f);
      return;
    case Icon::Cross:
      line(-0.5f, -0.5f, 0.5f, 0.5f);
      line(-0.5f, 0.5f, 0.5f, -0.5f);
      return;
    case Icon::More:
      for (int i = -1; i <= 1; ++i)
        draw.AddCircleFilled({c.x + static_cast<float>(i) * r * 0.65f, c.y}, r * 0.17f, colour);
      return;
    case Icon::Filter:
      line(-0.8f, -0.6f, 0.8f, -0.6f);
      line(-0.5f, 0, 0.5f, 0);
      line(-0.2f, 0.6f, 0.2f, 0.6f);
      return;
    case Icon::Copy:
      draw.AddRect({c.x - r * 0.35f, c.y - r * 0.35f}, {c.x + r * 0.7f, c.y + r * 0.7f}, colour, 1,
                   0, thick);
      draw.PathLineTo({c.x - r * 0.7f, c.y + r * 0.25f});
      draw.PathLineTo({c.x - r * 0.7f, c.y - r * 0.7f});
      draw.PathLineTo({c.x + r * 0.25f, c.y - r * 0.7f});
      draw.PathStroke(colour, 0, thick);
      return;
    case Icon::Record:
      draw.AddCircle(c, r * 0.75f, colour, 0, thick);
      draw.AddCircleFilled(c, r * 0.4f, colour);
      return;
    case Icon::Bookmark:
      line(-0.5f, -0.8f, 0.5f, -0.8f);
      line(-0.5f, -0.8f, -0.5f, 0.8f);
      line(0.5f, -0.8f, 0.5f, 0.8f);
      line(-0.5f, 0.8f, 0, 0.3f);
      line(0.5f, 0.8f, 0, 0.3f);
      return;
    case Icon::Fill:  // the corners of a window
      for (const float x : {-0.7f, 0.7f}) {
        for (const float y : {-0.7f, 0.7f}) {
          line(x, y, x * 0.4f, y);
          line(x, y, x, y * 0.4f);
        }
      }
      return;
    case Icon::Export:  // an arrow out of a tray
      line(0, 0.35f, 0, -0.75f);
      line(0, -0.75f, -0.35f, -0.35f);
      line(0, -0.75f, 0.35f, -0.35f);
      line(-0.75f, 0.2f, -0.75f, 0.75f);
      line(-0.75f, 0.75f, 0.75f, 0.75f);
      line(0.75f, 0.75f, 0.75f, 0.2f);
      return;
    case Icon::Help: {
      const char* const mark = "?";
      const ImVec2 text = ImGui::CalcTextSize(mark);
      draw.AddText({std::round(c.x - text.x / 2), std::round(c.y - text.y / 2)}, colour, mark);
      return;
    }
  }
}

bool icon_button(const Theme& theme, const char* id, Icon icon, const std::string& hint,
                 IconState state) {
  const float side = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(id, {side, side}) && state != IconState::Disabled;
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (state == IconState::Active)
    draw.AddRectFilled(at, {at.x + side, at.y + side}, theme.accent_soft, theme.radius);
  if (hovered && state != IconState::Disabled) {
    draw.AddRectFilled(at, {at.x + side, at.y + side},
                       ImGui::IsItemActive() ? theme.accent_soft : theme.hovered, theme.radius);
  }
  const ImU32 colour = state == IconState::Disabled ? theme.ink_faint
                       : state == IconState::Active ? theme.accent
                       : hovered                    ? theme.ink
                                                    : theme.ink_soft;
  draw_icon(draw, icon, {std::round(at.x + side / 2), std::round(at.y + side / 2)},
            std::round(side * 0.52f), colour);
  tooltip(hint);
  return clicked;
}

}  // namespace reprise::viewer

#include "panels/replays/replays_colour.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::viewer {

ImU32 mixed(ImU32 a, ImU32 b, float part) {
  const ImVec4 x = ImGui::ColorConvertU32ToFloat4(a), y = ImGui::ColorConvertU32ToFloat4(b);
  const float p = std::clamp(part, 0.0f, 1.0f), q = 1 - p;
  return ImGui::ColorConvertFloat4ToU32(
      {x.x * q + y.x * p, x.y * q + y.y * p, x.z * q + y.z * p, x.w * q + y.w * p});
}

ImU32 ratio_colour(const Theme& theme, double ratio) {
  const ImU32 neutral = mixed(theme.node_border, theme.ink_faint, 0.5f);
  if (!(ratio > 0)) return neutral;
  const double part = std::clamp(std::log(ratio) / std::log(kFullColourRatio), -1.0, 1.0);
  const auto strength = static_cast<float>(std::abs(part));
  const ImU32 faster = category(theme, theme.shade == Shade::Dark ? 0 : 6),
              slower = category(theme, 4);
  return mixed(neutral, part < 0 ? faster : slower, strength);
}

float draw_ratio_legend(const Theme& theme, ImDrawList& list, ImVec2 at) {
  const float size = theme.small->FontSize, width = 72 * theme.scale, height = size * 0.6f;
  const char *low = "0.67x", *high = "1.5x median";
  const float low_width = theme.small->CalcTextSizeA(size, 1e9f, 0, low).x,
              high_width = theme.small->CalcTextSizeA(size, 1e9f, 0, high).x;
  list.AddText(theme.small, size, at, theme.ink_soft, low);
  const float left = at.x + low_width + theme.half_space, top = at.y + (size - height) / 2 + 1;
  constexpr int kSteps = 24;
  for (int i = 0; i < kSteps; ++i) {
    const double part = (i + 0.5) / kSteps * 2 - 1;
    const float x = left + width * static_cast<float>(i) / kSteps;
    list.AddRectFilled({x, top}, {x + width / kSteps + 0.5f, top + height},
                       ratio_colour(theme, std::pow(kFullColourRatio, part)));
  }
  list.AddText(theme.small, size, {left + width + theme.half_space, at.y}, theme.ink_soft, high);
  return low_width + width + high_width + 2 * theme.half_space;
}

}  // namespace reprise::viewer
